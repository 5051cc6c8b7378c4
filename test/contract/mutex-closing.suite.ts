import { expect, it } from '@jest/globals';
import { LockClientClosedError, LockLostError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/** Shutdown in two steps: refuse, so that running work may end; then close. */
export function mutexClosingSuite(stage: () => LockStage): void {
  it('begins with refuse(): it rejects 20 waiters, keeps what is held, and grants nothing more', async () => {
    const { mine, key } = stage();
    const held = await mine.lock(key).acquire();
    const waiters = await queueTwenty(mine);

    mine.locks.refuse();
    await expectAllClosed(waiters);
    await expectAllClosed([mine.lock(key).acquire(), mine.lock('another').tryAcquire()]);
    await eventually(
      'only the holder is left',
      async () => (await stage().contenders()).length === 1,
    );

    expect(held.isHeld).toBe(true);
    await held.release();
    expect(await stage().contenders()).toEqual([]);
  });

  it('refuses to connect again, at once', async () => {
    const { mine } = stage();
    await mine.locks.close();
    await expectAllClosed([mine.locks.connect()]);
  });

  it('rejects 20 waiters, and leaves nothing of them', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    const waiters = await queueTwenty(mine);
    await mine.locks.close();
    expect(await stage().contenders()).toHaveLength(1); // that of the holder
    await expectAllClosed(waiters);
  });

  it('takes the lock from its holder, aborts the signal of the holder, and hands the lock on', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.lock(key).acquire();
    const { signal } = lease;
    const { lease: waiting } = await stage().queue(theirs);

    const closing = mine.locks.close();
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    await closing;
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
    await lease.release(); // late, and harmless
    expect(next.isHeld).toBe(true);
  });

  it('happens once, however often it is asked for, and is final', async () => {
    const { mine, key } = stage();
    await Promise.all([mine.locks.close(), mine.locks.close()]);
    await mine.locks.close();
    await expectAllClosed([
      mine.lock(key).acquire(),
      mine.lock(key).tryAcquire(),
      mine.lock(key).using(async () => {}),
    ]);
  });

  it('lets the others go on', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock('of others').acquire();
    await mine.locks.close();
    await using lease = await theirs.lock(key).tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  async function queueTwenty(client: StageClient): Promise<Promise<Lease>[]> {
    const waiters = await Promise.all(Array.from({ length: 20 }, () => stage().queue(client)));
    return waiters.map(({ lease }) => lease);
  }

  async function expectAllClosed(acquires: readonly Promise<unknown>[]): Promise<void> {
    for (const result of await Promise.allSettled(acquires)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'LOCK_CLIENT_CLOSED' } });
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(LockClientClosedError);
    }
  }
}
