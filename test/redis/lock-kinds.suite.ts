import { describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisStage } from './redis-stage.js';

const MUTEXES = {
  mutex: (client: RedisLockClient, key: string) => client.mutex(key),
  'fenced mutex': (client: RedisLockClient, key: string) => client.mutex(key, { fenced: true }),
  'fair mutex': (client: RedisLockClient, key: string) => client.mutex(key, { fair: true }),
  'semaphore mutex': (client: RedisLockClient, key: string) => client.semaphoreMutex(key),
};
const HALVES = {
  'read lock': (client: RedisLockClient, key: string) => client.readWriteLock(key).readLock(),
  'write lock': (client: RedisLockClient, key: string) => client.readWriteLock(key).writeLock(),
};

/** Locks of kinds that do not exclude each other, under one key. */
export function lockKindsSuite(stage: () => RedisStage): void {
  describe('on the server', () => {
    const pairs = Object.keys(MUTEXES).flatMap((mutex) =>
      Object.keys(HALVES).map((half) => [mutex, half] as const),
    ) as [keyof typeof MUTEXES, keyof typeof HALVES][];

    it.each(pairs)('rejects a %s where there is a %s', async (mutex, half) => {
      const { mine, theirs, key } = stage();
      await using _ = await HALVES[half](theirs, key).acquire();
      const before = await stage().fields(key);
      const refused = MUTEXES[mutex](mine, key);
      await expect(refused.acquire()).rejects.toThrow(/read\/write lock/);
      await expect(refused.tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().fields(key)).toEqual(before);
    });

    it.each(pairs)('rejects, where there is a %s, a %s', async (mutex, half) => {
      const { mine, theirs, key } = stage();
      await using _ = await MUTEXES[mutex](theirs, key).acquire();
      const before = await stage().fields(key);
      const refused = HALVES[half](mine, key);
      await expect(refused.acquire()).rejects.toThrow(/mutex/);
      await expect(refused.tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().fields(key)).toEqual(before);
    });

    it('leaves a read/write lock alone when it is unlocked by force as a mutex', async () => {
      const { mine, theirs, key } = stage();
      await using held = await theirs.readWriteLock(key).writeLock().acquire();
      await expect(mine.mutex(key).forceUnlock()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().command('EXISTS', key)).toBe(1);
      expect(held.isHeld).toBe(true);
    });

    it('leaves a mutex alone when it is unlocked by force as a read/write lock', async () => {
      const { mine, theirs, key } = stage();
      await using held = await theirs.mutex(key).acquire();
      for (const mode of ['read', 'write'] as const)
        expect(await mine.readWriteLock(key).forceUnlock(mode)).toBe(false);
      expect(await stage().command('EXISTS', key)).toBe(1);
      expect(held.isHeld).toBe(true);
    });

    it('is free for another kind once it is not held', async () => {
      const { mine, theirs, key } = stage();
      await (await theirs.readWriteLock(key).readLock().acquire()).release();
      await using lease = await mine.mutex(key).acquire();
      expect(lease.isHeld).toBe(true);
    });
  });

  describe('in one client', () => {
    it('rejects another kind before it asks the server', async () => {
      const { mine, key } = stage();
      mine.mutex(key);
      expect(() => mine.readWriteLock(key)).toThrow(LockKeyError);
      expect(() => mine.semaphoreMutex(key)).toThrow(LockKeyError);
      expect(() => mine.mutex(key, { fair: true })).toThrow(LockKeyError);
      mine.readWriteLock(`${key}-2`);
      expect(() => mine.mutex(`${key}-2`)).toThrow(LockKeyError);
    });

    it('treats fenced and plain mutexes as one: they exclude each other', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire();
      expect(await mine.mutex(key, { fenced: true }).tryAcquire()).toBeUndefined();
      const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, { fenced: true }));
      await lease.release();
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    });
  });
}
