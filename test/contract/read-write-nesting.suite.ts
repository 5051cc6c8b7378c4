import { describe, expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockTimeoutError, LockUpgradeError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/** What a holder of one half gets of the same lock, inside of its lease and outside. */
export function readWriteNestingSuite(stage: () => LockStage): void {
  describe('asked for again', () => {
    it.each([
      ['read', 'read', 'enters'],
      ['read', 'write', 'is refused'],
      ['write', 'read', 'enters'],
      ['write', 'write', 'enters'],
    ] as const)('inside of the held %s lock, the %s lock %s', async (held, wanted, outcome) => {
      const { mine, key } = stage();
      await mine.half(held, key).using(async () => {
        expect(await outcomeOf(mine.half(wanted, key))).toBe(outcome);
      });
      expect(await stage().contenders()).toEqual([]);
    });

    it.each([
      ['read', 'read', 'enters'],
      ['read', 'write', 'waits'],
      ['write', 'read', 'waits'],
      ['write', 'write', 'waits'],
    ] as const)(
      'of another owner that holds the %s lock, the %s lock %s (Curator: testThatDowngradingRespectsThreads)',
      async (held, wanted, outcome) => {
        const { mine, theirs, key } = stage();
        await using _ = await mine.half(held, key).acquire();
        expect(await outcomeOf(mine.half(wanted, key))).toBe(outcome); // not in its scope
        expect(await outcomeOf(theirs.half(wanted, key))).toBe(outcome);
        await eventually('nothing is left', async () => (await stage().contenders()).length === 1);
      },
    );

    it('by its own kind, asks the servers for nothing', async () => {
      const { mine, key } = stage();
      for (const half of ['read', 'write'] as const) {
        await mine.half(half, key).using(async (outer) => {
          const asked = mine.requests.length;
          await mine.half(half, key).using(async (inner) => {
            expect(currentLease()).toBe(inner);
            expect(inner).not.toBe(outer);
          });
          expect(mine.requests).toHaveLength(asked);
        });
      }
    });

    it('by another client, waits', async () => {
      const { mine, theirs, key } = stage();
      await mine.writeLock(key).using(async () => {
        expect(await outcomeOf(theirs.readLock(key))).toBe('waits');
      });
    });

    it('inside of a multi-lock that it is a part of, goes as it would without', async () => {
      const { mine, key } = stage();
      const other = mine.locks.mutex('another');
      const [reading, writing] = [mine.readLock(key), mine.writeLock(key)];
      await mine.locks.multiLock([other, writing]).using(async () => {
        expect(await outcomeOf(reading)).toBe('enters');
        expect(await outcomeOf(writing)).toBe('enters');
      });
      await mine.locks.multiLock([other, reading]).using(async () => {
        expect(await outcomeOf(reading)).toBe('enters');
        expect(await outcomeOf(writing)).toBe('is refused');
      });
    });

    it('is not refused in a scope after its read lock was released', async () => {
      const { mine, key } = stage();
      await mine.readLock(key).using(async (reader) => {
        await reader.release();
        await using writer = await mine.writeLock(key).tryAcquire();
        expect(writer?.isHeld).toBe(true);
      });
    });
  });

  describe('the upgrade from read to write (Curator: testThatUpgradingIsDisallowed)', () => {
    it('is refused at once, however it is asked for, and sends nothing', async () => {
      const { mine, key } = stage();
      await mine.readLock(key).using(async () => {
        const asked = mine.requests.length;
        const lock = mine.writeLock(key);
        for (const refused of [lock.acquire(), lock.tryAcquire(), lock.using(async () => {})]) {
          await expect(refused).rejects.toBeInstanceOf(LockUpgradeError);
          await expect(refused).rejects.toMatchObject({
            code: 'LOCK_UPGRADE',
            key,
            client: 'contract',
          });
        }
        expect(mine.requests).toHaveLength(asked);
        expect(await stage().contenders()).toHaveLength(1);
      });
    });

    it('leaves the read lock as it is', async () => {
      const { mine, theirs, key } = stage();
      await mine.readLock(key).using(async (reader) => {
        await expect(mine.writeLock(key).acquire()).rejects.toBeInstanceOf(LockUpgradeError);
        expect(reader.isHeld).toBe(true);
        expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
      });
    });

    it('is refused also deep inside, and where the write lock that was downgraded is gone', async () => {
      const { mine, key } = stage();
      const reader = await mine.writeLock(key).using(() => mine.readLock(key).acquire());
      await reader.run(() =>
        mine.readLock(key).using(async () => {
          expect(await outcomeOf(mine.writeLock(key))).toBe('is refused');
        }),
      );
      await reader.release();
    });

    it('is no upgrade where the write lock is held further out', async () => {
      const { mine, key } = stage();
      const [reading, writing] = [mine.readLock(key), mine.writeLock(key)];
      const depth = await writing.using(() => reading.using(() => writing.using(async () => 3)));
      expect(depth).toBe(3);
    });

    it('is no upgrade where another client reads: it waits', async () => {
      const { mine, theirs, key } = stage();
      await mine.readLock(key).using(async () => {
        expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
      });
    });
  });
}

/** What becomes of an acquire now; of an attempt that does not wait and of one that does. */
async function outcomeOf(lock: Lock): Promise<'enters' | 'waits' | 'is refused'> {
  try {
    const tried = await lock.tryAcquire();
    const acquired = await lock.acquire({ wait: tried ? 10_000 : 20 });
    expect(tried?.isHeld).toBe(true);
    await Promise.all([tried!.release(), acquired.release()]);
    return 'enters';
  } catch (error) {
    if (error instanceof LockUpgradeError) return 'is refused';
    if (error instanceof LockTimeoutError) return 'waits';
    throw error;
  }
}
