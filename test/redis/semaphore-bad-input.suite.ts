import { expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import type { RedisStage } from './redis-stage.js';

const NO_NUMBERS = [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', null] as unknown as number[];

/** Invalid arguments are rejected before anything is sent. */
export function semaphoreBadInputSuite(stage: () => RedisStage): void {
  it.each(NO_NUMBERS)('rejects %p as a number of permits', async (permits) => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    for (const ask of [
      () => semaphore.acquire({ permits }),
      () => semaphore.tryAcquire({ permits }),
      () => semaphore.using(() => {}, { permits }),
      () => semaphore.release(permits),
      () => semaphore.releaseIfExists(permits),
      () => semaphore.trySetPermits(permits),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permits', key });
    expect(await stage().keys()).toEqual([]);
  });

  it('rejects less than one permit (Redisson: RedissonSemaphoreTest testZero)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    for (const ask of [
      () => semaphore.tryAcquire({ permits: 0 }),
      () => semaphore.release(0),
      () => semaphore.addPermits(0),
      () => semaphore.trySetPermits(0),
    ])
      await expect(ask()).rejects.toMatchObject({ option: 'permits' });
    expect(await stage().keys()).toEqual([]);
  });

  it.each([0, 99, 100.5, NaN, Infinity, 2 ** 31, -1])(
    'rejects %p as the lifetime of the semaphore',
    async (timeToLive) => {
      const { mine, key } = stage();
      await expect(mine.plainSemaphore(key).trySetPermits(1, timeToLive)).rejects.toMatchObject({
        code: 'LOCK_OPTIONS',
        option: 'timeToLive',
      });
      expect(await stage().keys()).toEqual([]);
    },
  );

  it.each([-1, NaN, '5'] as unknown as number[])('rejects a wait of %p ms', async (wait) => {
    const { mine, key } = stage();
    for (const ask of [
      () => mine.plainSemaphore(key).acquire({ wait }),
      () => mine.plainSemaphore(key).tryAcquire({ wait }),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'wait' });
  });

  it('rejects another kind under its key, in the same client', () => {
    const { mine, key } = stage();
    mine.plainSemaphore(key);
    expect(() => mine.semaphore(key)).toThrow(LockKeyError);
    expect(() => mine.mutex(key)).toThrow(LockKeyError);
    expect(() => mine.countDownLatch(key)).toThrow(LockKeyError);
    expect(mine.plainSemaphore(key).key).toBe(key);
  });
}
