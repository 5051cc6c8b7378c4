import { expect, it } from '@jest/globals';
import { LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import { eventsOf } from './events-of.js';
import type { LockStage } from './lock-stage.js';
import { nextEvent } from './next-event.js';

/** What a client reports to its listeners. */
export function mutexEventsSuite(stage: () => LockStage): void {
  it('report that it is acquired and released', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await mine.lock(key).using(async () => {});
    expect(heard).toEqual([
      {
        kind: 'acquired',
        recipe: mine.lock(key).identity.recipe,
        key,
        waitedMs: expect.any(Number),
      },
      { kind: 'released', recipe: mine.lock(key).identity.recipe, key, heldMs: expect.any(Number) },
    ]);
  });

  it('report the method that asked for it', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await mine.lock(key).using(async () => {}, { method: 'Seats.take' });
    expect(heard).toMatchObject([{ method: 'Seats.take' }, { method: 'Seats.take' }]);
  });

  it('report once that it is waited for, although it has to wait for two others, one after the other', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const leave = new AbortController();
    await stage().queue(mine, { signal: leave.signal });
    const heard = eventsOf(theirs);
    const { lease } = await stage().queue(theirs);
    expect(heard).toEqual([{ kind: 'contended', recipe: mine.lock(key).identity.recipe, key }]);

    leave.abort();
    await eventually('it has left', async () => (await stage().contenders()).length === 2);
    await stage().caughtUp(theirs); // it has looked again, and waits again
    await holder.release();
    await (await lease).release();
    expect(heard.map(({ kind }) => kind)).toEqual(['contended', 'acquired', 'released']);
  });

  it('report an acquire that failed, with its error', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    const heard = eventsOf(theirs);
    const error: unknown = await theirs
      .lock(key)
      .acquire({ wait: 300 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(heard).toEqual([
      { kind: 'contended', recipe: mine.lock(key).identity.recipe, key },
      {
        kind: 'failed',
        recipe: mine.lock(key).identity.recipe,
        key,
        waitedMs: expect.any(Number),
        error,
      },
    ]);
    expect((heard[1] as unknown as LockEvents['failed']).waitedMs).toBeGreaterThanOrEqual(
      earliest(300),
    );
  });

  it('report nothing when tryAcquire finds it taken', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    const heard = eventsOf(theirs);
    await theirs.lock(key).tryAcquire();
    expect(heard).toEqual([]);
  });

  it('report that it is lost, with the error of its signal, and then not that it is released', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    const heard = eventsOf(mine);
    const { signal } = lease;
    await stage().expire(mine);
    await lease.release();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(heard).toEqual([
      {
        kind: 'lost',
        recipe: mine.lock(key).identity.recipe,
        heldMs: expect.any(Number),
        key,
        error: signal.reason as unknown,
      },
    ]);
  });

  it('do not reach a listener that was taken off', async () => {
    const { mine, key } = stage();
    const told: string[] = [];
    const stop = mine.locks.on('acquired', ({ key: acquired }) => told.push(acquired));
    const next = nextEvent(mine.locks, 'released');
    await mine.lock(key).using(async () => {});
    await next;
    stop();
    await mine.lock(key).using(async () => {});
    expect(told).toEqual([key]);
  });
}
