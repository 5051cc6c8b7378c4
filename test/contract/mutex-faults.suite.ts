import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/**
 * The accidents that every backend can have. Those of real servers and networks have tests of their own.
 *
 * @param isFair is the first in the queue served first?
 */
export function mutexFaultsSuite(stage: () => LockStage, isFair = true): void {
  it('servers go and come back: holder and waiter are still there (Curator: testWaitingProcessKilledServer)', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const token = await holder.fencingToken();
    const { lease: waiting } = await stage().queue(theirs);
    await stage().down();
    await stage().up();
    expect(holder.isHeld).toBe(true);
    expect(holder.signal.aborted).toBe(false);
    await areBack(2);

    await holder.release();
    await using next = await waiting;
    expect(await next.fencingToken()).toBeGreaterThan(token);
  });

  it('servers are away: waits end on time, and a release goes on when they are back', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    await stage().down();
    const late = theirs.lock(key).acquire({ wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(theirs.lock(key).tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    const patient = theirs.lock(key).acquire();
    await holder.release();
    await stage().up();
    const next = await patient;
    expect(next.isHeld).toBe(true);
    await next.release();
    await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
  });

  it('the servers forget it while it waits: it queues again', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const { lease } = await stage().queue(theirs);
    const { lease: behind } = await stage().queue(mine);
    const { length } = await stage().contenders();
    await stage().expire(theirs);
    await areBack(length);
    await holder.release();
    const served: string[] = [];
    const serve = async (name: string, waiting: Promise<Lease>) => {
      const held = await waiting;
      served.push(name);
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
      await held.release();
    };
    await Promise.all([serve('forgotten', lease), serve('behind', behind)]);
    expect(isFair ? served : served.sort()).toEqual(['behind', 'forgotten']);
  });

  function areBack(count: number): Promise<unknown> {
    return eventually(
      `${count} hold it or wait again`,
      async () => (await stage().contenders()).length === count,
    );
  }
}
