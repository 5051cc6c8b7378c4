import { expect, it } from '@jest/globals';
import { LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import { eventsOf } from './events-of.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import { earliest } from '../support/earliest.js';

/** What a client reports to its listeners of permits: once for each acquire, however many it is about. */
export function semaphoreEventsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it.each([1, 3])('report when %i of 3 are acquired and released', async (permits) => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await semaphores.of(mine, 3).using(async () => {}, { permits });
    expect(heard).toEqual([
      { kind: 'acquired', recipe: 'semaphore', key, waitedMs: expect.any(Number) },
      { kind: 'released', recipe: 'semaphore', key, heldMs: expect.any(Number) },
    ]);
  });

  it('report a nested acquire as any other', async () => {
    const { mine } = stage();
    const heard = eventsOf(mine);
    const semaphore = semaphores.of(mine, 2);
    await semaphore.using(() => semaphore.using(async () => {}));
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'acquired', 'released', 'released']);
  });

  it('report once that they are waited for, although they come one by one', async () => {
    const { mine, theirs, key } = stage();
    const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
    const heard = eventsOf(theirs);
    const { lease } = await semaphores.queue(theirs, 2, { permits: 2 });
    expect(heard).toEqual([{ kind: 'contended', recipe: 'semaphore', key }]);
    await held[0]!.release();
    await stage().caughtUp(theirs); // it has looked again, and waits again
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await held[1]!.release();
    await (await lease).release();
    expect(heard.map(({ kind }) => kind)).toEqual(['contended', 'acquired', 'released']);
  });

  it('report no wait where some are free', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    await semaphores.becomes({ held: 1, waiting: 0 });
    await stage().caughtUp(theirs); // on ZooKeeper its server knows too that the queue is empty
    const heard = eventsOf(theirs);
    await semaphores.of(theirs, 2).using(async () => {});
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'released']);
  });

  it('report an acquire that failed, with its error', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    const heard = eventsOf(theirs);
    const error: unknown = await semaphores
      .of(theirs, 2)
      .acquire({ permits: 2, wait: 1_500 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(heard).toEqual([
      { kind: 'contended', recipe: 'semaphore', key },
      { kind: 'failed', recipe: 'semaphore', key, waitedMs: expect.any(Number), error },
    ]);
    expect((heard[1] as unknown as LockEvents['failed']).waitedMs).toBeGreaterThanOrEqual(
      earliest(1_500),
    );
  });

  it('report nothing when tryAcquire finds too few', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    const heard = eventsOf(theirs);
    expect(await semaphores.of(theirs, 2).tryAcquire({ permits: 2 })).toBeUndefined();
    expect(heard).toEqual([]);
  });

  it('report that they are lost, with the error of the signal, and then not that they are released', async () => {
    const { mine, key } = stage();
    const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const heard = eventsOf(mine);
    const { signal } = lease;
    await stage().expire(mine);
    await lease.release();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(heard).toEqual([
      {
        kind: 'lost',
        recipe: 'semaphore',
        heldMs: expect.any(Number),
        key,
        error: signal.reason as unknown,
      },
    ]);
  });
}
