import { expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { RedisStage } from './redis-stage.js';

/** How the latch is closed, and counted down. */
export function countDownLatchCountSuite(stage: () => RedisStage): void {
  it('is closed once, until it is open again (Redisson: RedissonCountDownLatchTest testTrySetCount)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    expect(await latch.trySetCount(1)).toBe(true);
    expect(await latch.trySetCount(2)).toBe(false);
    expect(await theirs.countDownLatch(key).trySetCount(3)).toBe(false);
    expect(await latch.getCount()).toBe(1);

    await latch.countDown();
    expect(await latch.trySetCount(2)).toBe(true);
    await latch.delete();
  });

  it('reports to every client how many counts are left (Redisson: RedissonCountDownLatchTest testCount)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    expect(await latch.getCount()).toBe(0);
    await latch.trySetCount(5);
    for (const left of [4, 3, 2, 1, 0]) {
      expect(await latch.countDown()).toBe(left);
      expect(await theirs.countDownLatch(key).getCount()).toBe(left);
    }
  });

  it('stays open however often it is counted down (Redisson: RedissonCountDownLatchTest testCountDown)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    expect(await latch.countDown()).toBe(0);
    for (const client of [mine, theirs]) {
      expect(await client.countDownLatch(key).countDown()).toBe(0);
      await client.countDownLatch(key).await();
    }
    expect(await latch.getCount()).toBe(0);
    expect(await latch.trySetCount(2)).toBe(true);
    expect(await latch.countDown()).toBe(1); // count-downs beyond zero do not count
    await latch.delete();
  });

  it('is open and can get a new count once it is deleted (Redisson: RedissonCountDownLatchTest testDelete)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    expect(await theirs.countDownLatch(key).delete()).toBe(true);
    expect(await latch.getCount()).toBe(0);
    await latch.await();
    expect(await latch.trySetCount(1)).toBe(true);
    await latch.delete();
  });

  it('cannot be deleted when it is open (Redisson: RedissonCountDownLatchTest testDeleteFailed)', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    const log = await stage().log();
    expect(await latch.delete()).toBe(false);
    expect(await log.published(key)).toEqual([]);
  });

  it('counts exactly the count-downs of many concurrent callers', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(100);
    const down = [mine, theirs].flatMap((client) =>
      Array.from({ length: 50 }, () => client.countDownLatch(key).countDown()),
    );
    const left = (await Promise.all(down)).sort((a, b) => a - b);
    expect(left).toEqual(Array.from({ length: 100 }, (_, n) => n)); // each of them once
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, '3', null, undefined])(
    'rejects a count of %p',
    async (count) => {
      const { mine, key } = stage();
      const refused = mine.countDownLatch(key).trySetCount(count as number);
      await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
      await expect(refused).rejects.toMatchObject({ option: 'count', value: count, key });
      expect(await mine.countDownLatch(key).getCount()).toBe(0);
    },
  );

  it('accepts the greatest possible count', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2 ** 31 - 1);
    expect(await latch.countDown()).toBe(2 ** 31 - 2);
    await latch.delete();
  });

  it('rejects a key that is used for something else, and leaves it alone', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await stage().command('RPUSH', key, 'theirs');
    const asks = [
      () => latch.trySetCount(1),
      () => latch.countDown(),
      () => latch.await(),
      () => latch.delete(),
    ];
    for (const ask of asks) await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    expect(await stage().command('LRANGE', key, 0, -1)).toEqual(['theirs']);
    await stage().command('DEL', key);
  });

  it.each([undefined, null, 5, '', 'a\0b', 'a\ud800'])('rejects %p as a key', (key) => {
    expect(() => stage().mine.countDownLatch(key as string)).toThrow(LockKeyError);
  });
}
