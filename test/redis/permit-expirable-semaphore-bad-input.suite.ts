import { expect, it } from '@jest/globals';
import { LockKeyError, LockNotHeldError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { RedisStage } from './redis-stage.js';

const NO_NUMBERS = [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', null] as unknown as number[];
const NO_LEASES = [0, -1, 99, 100.5, NaN, Infinity, 2 ** 31, '500', null] as unknown as number[];
const NO_IDS = [
  '',
  'ab',
  'zz'.repeat(16),
  'ab'.repeat(17),
  `${'ab'.repeat(15)}a\n`,
  7,
  null,
  undefined,
] as unknown as string[];

/** Invalid arguments are rejected before anything is sent. */
export function permitExpirableSemaphoreBadInputSuite(stage: () => RedisStage): void {
  it.each(NO_NUMBERS)('rejects %p as a number of permits', async (permits) => {
    const { mine, key } = stage();
    expect(() => mine.semaphore(key, { permits })).toThrow(LockOptionsError);
    const semaphore = mine.semaphore(key);
    for (const ask of [
      () => semaphore.acquire({ permits }),
      () => semaphore.tryAcquire({ permits }),
      () => semaphore.using(() => {}, { permits }),
      () => semaphore.trySetPermits(permits),
      () => semaphore.setPermits(permits),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permits', key });
    expect(await stage().keys()).toEqual([]);
  });

  it.each([0, 1.5, NaN, -Infinity, 2 ** 31, -(2 ** 31)])(
    'rejects an addition of %p permits',
    async (permits) => {
      const { mine, key } = stage();
      await expect(mine.semaphore(key).addPermits(permits)).rejects.toMatchObject({
        code: 'LOCK_OPTIONS',
        option: 'permits',
      });
      expect(await stage().keys()).toEqual([]);
    },
  );

  it('rejects at once a request for more permits than its declared number', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    const refusal = await semaphore.acquire({ permits: 4 }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(String(refusal)).toContain('from 1 to 3');
    await expect(semaphore.tryAcquire({ permits: 4 })).rejects.toBeInstanceOf(LockOptionsError);
  });

  it('keeps a request for more permits than exist waiting, where no number is declared', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    expect(await mine.semaphore(key).tryAcquire({ permits: 4 })).toBeUndefined();
    await expect(mine.semaphore(key).acquire({ permits: 4, wait: 100 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
  });

  it.each(NO_LEASES)('rejects a lease of %p', async (lease) => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    await expect(semaphore.acquire({ lease })).rejects.toMatchObject({ option: 'lease' });
    await expect(semaphore.updateLeaseTime('ab'.repeat(16), lease)).rejects.toMatchObject({
      option: 'lease',
    });
    await using held = await semaphore.acquire();
    await expect(held.extend(lease)).rejects.toMatchObject({ option: 'lease' });
    expect(held.isHeld).toBe(true);
  });

  it.each(NO_IDS)('rejects %p as an id', async (id) => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    await using lease = await semaphore.acquire();
    for (const ask of [
      () => semaphore.release(id),
      () => semaphore.tryRelease(id),
      () => semaphore.release([...lease.permitIds, id]),
      () => semaphore.getLeaseTime(id),
      () => semaphore.updateLeaseTime(id, 5_000),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permitId', key });
    expect([lease.isHeld, await semaphore.acquiredPermits()]).toEqual([true, 1]);
  });

  it('rejects an id that was already released', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    const lease = await semaphore.acquire();
    await lease.release();
    await expect(semaphore.release(lease.permitIds)).rejects.toMatchObject({
      code: 'LOCK_NOT_HELD',
      key,
    });
    await lease.release();
    await expect(lease.extend(5_000)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await semaphore.availablePermits()).toBe(1);
  });

  it('rejects another kind under its key, in the same client', () => {
    const { mine, key } = stage();
    mine.semaphore(key);
    expect(mine.semaphore(key, { permits: 2, fair: true }).key).toBe(key);
    for (const make of [
      () => mine.plainSemaphore(key),
      () => mine.mutex(key),
      () => mine.countDownLatch(key),
      () => mine.readWriteLock(key),
    ])
      expect(make).toThrow(LockKeyError);
  });

  it('rejects a mutex under its key, and a semaphore under that of a mutex, in another client', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.semaphore(key, { permits: 2 }).acquire();
    await expect(theirs.mutex(key).tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
    expect(lease.isHeld).toBe(true);
    await lease.release();
    await using _ = await theirs.mutex(`{${key}}:2`).acquire();
    await expect(mine.semaphore(`{${key}}:2`).tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
  });

  it.each(['', '{}', 'a{}b'])('rejects the key %p where it cannot work', (key) => {
    const { mine } = stage();
    if (key === '' || stage().isCluster) expect(() => mine.semaphore(key)).toThrow(LockKeyError);
    else expect(mine.semaphore(key).key).toBe(key);
  });
}
