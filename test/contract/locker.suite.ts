import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/** `await using`, which Curator's `Locker` is for: what a block has acquired, its end releases. */
export function lockerSuite(stage: () => LockStage): void {
  const locks: [string, (client: StageClient, key: string) => Lock][] = [
    ['mutex', ({ locks }, key) => locks.mutex(key)],
    ['read lock', ({ locks }, key) => locks.readWriteLock(key).readLock()],
    ['write lock', ({ locks }, key) => locks.readWriteLock(key).writeLock()],
    ['semaphore', ({ locks }, key) => locks.semaphore(key, { permits: 1 })],
    ['semaphore mutex', ({ locks }, key) => locks.semaphoreMutex(key)],
    ['multi-lock', ({ locks }, key) => locks.multiLock([locks.mutex(key), locks.mutex('other')])],
  ];

  describe.each(locks)('with a %s', (_, lockOf) => {
    it('releases at the end of the block (Curator: testLocker)', async () => {
      const { mine, key } = stage();
      const lock = lockOf(mine, key);
      const leases = [];
      {
        await using lease = await lock.acquire();
        expect(lease.isHeld).toBe(true);
        leases.push(lease);
      }
      {
        await using lease = await lock.tryAcquire();
        expect(lease?.isHeld).toBe(true);
        leases.push(lease);
      }
      expect(leases.map((lease) => lease?.isHeld)).toEqual([false, false]);
      expect(await stage().remains()).toEqual([]);
    });

    it('releases when the block throws, and keeps the error as it is', async () => {
      const { mine, key } = stage();
      const lock = lockOf(mine, key);
      const error = new Error('no paper');
      const work = async () => {
        await using lease = await lock.acquire();
        expect(lease.isHeld).toBe(true);
        throw error;
      };
      await expect(work()).rejects.toBe(error);
      expect(await stage().remains()).toEqual([]);
    });

    it('does nothing where the block has released before', async () => {
      const { mine, theirs, key } = stage();
      let rival: Lease | undefined;
      {
        await using lease = await lockOf(mine, key).acquire();
        await lease.release();
        rival = await lockOf(theirs, key).tryAcquire();
      }
      expect(rival?.isHeld).toBe(true);
      await rival!.release();
    });
  });

  it('does nothing where tryAcquire got nothing', async () => {
    const { mine, theirs, key } = stage();
    await using held = await mine.locks.mutex(key).acquire();
    {
      await using nothing = await theirs.locks.mutex(key).tryAcquire();
      expect(nothing).toBeUndefined();
    }
    expect(held.isHeld).toBe(true);
  });
}
