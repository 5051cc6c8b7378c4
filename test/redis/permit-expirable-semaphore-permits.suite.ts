import { expect, it } from '@jest/globals';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { RedisPermitExpirableSemaphore } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** Longer than any test. */
const LONG_LEASE = 600_000;
const ID = /^[0-9a-f]{32}$/;

/** How many permits there are, which of them are held, and what releases them. */
export function permitExpirableSemaphorePermitsSuite(stage: () => RedisStage): void {
  it('has no permits before any are set (Redisson: RedissonPermitExpirableSemaphoreTest testNotExistent)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    expect(await counts(semaphore)).toEqual([0, 0, 0]);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await stage().keys()).toEqual([]);
  });

  it('is set once (Redisson: RedissonPermitExpirableSemaphoreTest testTrySetPermits)', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.semaphore(key).trySetPermits(10)).toBe(true);
    expect(await theirs.semaphore(key).trySetPermits(20)).toBe(false);
    expect(await counts(mine.semaphore(key))).toEqual([10, 0, 10]);
  });

  it('is made larger and smaller, even smaller than the number of held permits (Redisson: RedissonPermitExpirableSemaphoreTest testSetPermits)', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.setPermits(3);
    const lease = await semaphore.acquire({ permits: 3 });
    await theirs.semaphore(key).setPermits(5);
    expect(await counts(semaphore)).toEqual([2, 3, 5]);
    await theirs.semaphore(key).setPermits(1);
    expect(await counts(semaphore)).toEqual([-2, 3, 1]);
    expect(lease.isHeld).toBe(true);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    await lease.release();
    expect(await counts(semaphore)).toEqual([1, 0, 1]);
  });

  it('gets more, and fewer (Redisson: RedissonPermitExpirableSemaphoreTest testAddPermits)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    await semaphore.trySetPermits(2);
    await semaphore.addPermits(3);
    expect(await semaphore.availablePermits()).toBe(5);
    await semaphore.addPermits(-4);
    expect(await semaphore.availablePermits()).toBe(1);
    await semaphore.addPermits(-2);
    expect(await semaphore.availablePermits()).toBe(-1);
  });

  it('counts the free permits (Redisson: RedissonPermitExpirableSemaphoreTest testAvailablePermits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(4);
    await using _ = await mine.semaphore(key).acquire();
    await using other = await theirs.semaphore(key).acquire({ permits: 2 });
    expect(other.permitIds).toHaveLength(2);
    expect(await mine.semaphore(key).availablePermits()).toBe(1);
  });

  it('counts the held permits (Redisson: RedissonPermitExpirableSemaphoreTest testAcquiredPermits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(4);
    const lease = await mine.semaphore(key).acquire({ permits: 3 });
    expect(await theirs.semaphore(key).acquiredPermits()).toBe(3);
    await lease.release();
    expect(await theirs.semaphore(key).acquiredPermits()).toBe(0);
  });

  it('counts all permits, held or not, and expired ones that were not collected (Redisson: RedissonPermitExpirableSemaphoreTest testGetPermits)', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(4);
    await using _ = await semaphore.acquire({ permits: 2 });
    expect(await counts(semaphore)).toEqual([2, 2, 4]);
    await stage().connection().zadd(semaphoreNames(key).timeouts, 1, Buffer.alloc(16));
    await stage().command('DECR', key);
    expect(await counts(semaphore)).toEqual([2, 2, 4]);
  });

  it('has an id of 32 digits for each permit (Redisson: RedissonPermitExpirableSemaphoreTest testBlockingAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await using first = await mine.semaphore(key).acquire();
    await using second = await theirs.semaphore(key).acquire();
    const ids = [...first.permitIds, ...second.permitIds];
    expect(ids).toEqual([expect.stringMatching(ID), expect.stringMatching(ID)]);
    expect(new Set(ids).size).toBe(2);
  });

  it('grants several permits at once, or none (Redisson: RedissonPermitExpirableSemaphoreTest testTryAcquireMany)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(5);
    await using four = (await mine.semaphore(key).tryAcquire({ permits: 4 }))!;
    expect(new Set(four.permitIds).size).toBe(4);
    expect(await theirs.semaphore(key).tryAcquire({ permits: 2 })).toBeUndefined();
    expect(await counts(theirs.semaphore(key))).toEqual([1, 4, 5]);
  });

  it('grants a free permit at once (Redisson: RedissonPermitExpirableSemaphoreTest testAcquire)', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(10);
    await stage().command('CONFIG', 'RESETSTAT');
    const leases = await Promise.all(
      Array.from({ length: 10 }, () => mine.semaphore(key).acquire({ wait: 5_000 })),
    );
    expect(new Set(leases.flatMap(({ permitIds }) => permitIds)).size).toBe(10);
    expect(await mine.semaphore(key).availablePermits()).toBe(0);
    for (const lease of leases) await lease.release();
  });

  it('rejects the release of a permit that was not acquired (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseWithoutPermits)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    const id = '00'.repeat(16);
    await expect(semaphore.release(id)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await semaphore.tryRelease(id)).toBe(false);
    expect(await stage().keys()).toEqual([]);
  });

  it('releases some of the permits of a lease by their ids, each once (Redisson: RedissonPermitExpirableSemaphoreTest testRelease)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const { permitIds } = await mine.semaphore(key).acquire({ permits: 3, lease: LONG_LEASE });
    const [first, ...others] = permitIds;
    await theirs.semaphore(key).release(first!);
    expect(await counts(mine.semaphore(key))).toEqual([1, 2, 3]);
    await expect(theirs.semaphore(key).release(first!)).rejects.toBeInstanceOf(LockNotHeldError);
    await theirs.semaphore(key).release(others);
    await expect(theirs.semaphore(key).release(others)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await counts(mine.semaphore(key))).toEqual([3, 0, 3]);
  });

  it('releases the permits of many leases at once (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseAsyncMany)', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(10);
    const leases = await Promise.all(Array.from({ length: 10 }, () => semaphore.acquire()));
    expect(await semaphore.tryRelease(leases.flatMap(({ permitIds }) => permitIds))).toBe(true);
    expect(await counts(semaphore)).toEqual([10, 0, 10]);
    expect(leases.map(({ isHeld }) => isHeld)).not.toContain(true);
  });

  it('notifies the holder in this process when its permit is released by its id', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2);
    const lease = await semaphore.acquire();
    await using other = await semaphore.acquire();
    await semaphore.release(lease.permitIds);
    expect([lease.isHeld, lease.signal.aborted, other.isHeld]).toEqual([false, true, true]);
    await lease.release();
    expect(await counts(semaphore)).toEqual([1, 1, 2]);
  });

  it('changes nothing where one of the ids is unknown', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await using lease = await mine.semaphore(key).acquire({ permits: 2 });
    const ids = [...lease.permitIds, 'ff'.repeat(16)];
    expect(await theirs.semaphore(key).tryRelease(ids)).toBe(false);
    await expect(theirs.semaphore(key).release(ids)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await counts(mine.semaphore(key))).toEqual([0, 2, 2]);
  });

  it('counts an id that appears twice in a list once', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2);
    const [id = ''] = (await semaphore.acquire()).permitIds;
    await semaphore.release([id, id.toUpperCase()]);
    expect(await counts(semaphore)).toEqual([2, 0, 2]);
  });

  it('has nothing to do for an empty list', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.semaphore(key).tryRelease([])).toBe(true);
    await mine.semaphore(key).release([]);
    await using lease = await theirs.semaphore(key, { permits: 2 }).acquire({ permits: 2 });
    expect(lease.isHeld).toBe(true);
  });
}

async function counts(semaphore: RedisPermitExpirableSemaphore): Promise<number[]> {
  return Promise.all([
    semaphore.availablePermits(),
    semaphore.acquiredPermits(),
    semaphore.getPermits(),
  ]);
}
