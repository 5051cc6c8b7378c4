import { expect } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { earliest, eventually } from '../support/time.js';
import { type OnRedis, scriptCalls } from './support/redis-stage.js';

/** Time in ms after which a waiter without any message checks by itself. */
const SILENCE = 5_000;

/** How callers wait for the latch, and what ends a wait. */
export function countDownLatchWaitingSuite({ it, test, stage }: OnRedis): void {
  test('opens for a waiter when the last count is counted down (Redisson: RedissonCountDownLatchTest testAwaitTimeout)', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(2);
    const startedAt = performance.now();
    const opened = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    await theirs.countDownLatch(key).countDown();
    expect(await mine.countDownLatch(key).getCount()).toBe(1);
    await theirs.countDownLatch(key).countDown();
    await opened;
    expect(performance.now() - startedAt).toBeLessThan(SILENCE);
  });

  it('is waited for as long as requested (Redisson: RedissonCountDownLatchTest testAwaitTimeoutFail)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    await theirs.countDownLatch(key).countDown(); // not enough
    const startedAt = performance.now();
    const late = latch.await({ wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ key, waitedMs: 300 });
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(2_000);
    expect(await latch.getCount()).toBe(1);
    await latch.delete();
  });

  it('requires no wait and no subscription where it is open', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    await mine.countDownLatch(key).await();
    expect(await log.commands('subscribe"')).toEqual([]);
  });

  it('opens for all five waiters (Redisson: RedissonCountDownLatchTest testMultiAwait)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(5);
    const opened = Array.from({ length: 5 }, () => latch.await({ wait: 20_000 }));
    await stage().listening(channel());
    for (let time = 0; time < 5; time++) await theirs.countDownLatch(key).countDown();
    expect(await Promise.all(opened)).toHaveLength(5);
  });

  test('opens for hundreds of waiters of two clients by one message (Redisson: CountDownLatchPubSubTest testOnZeroMessageAllListenersExecuted)', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).await(); // it is open; the server now knows the script
    await mine.countDownLatch(key).trySetCount(1);
    await stage().commands('CONFIG', 'RESETSTAT');
    const opened = [mine, theirs].flatMap((client) => waiters(client, 200));
    await eventually('all wait', async () => (await scriptCalls(stage())) >= 800); // before and after they subscribe
    await stage().listening(channel(), 2);

    const log = await stage().log();
    const startedAt = performance.now();
    await theirs.countDownLatch(key).countDown();
    expect(await Promise.all(opened)).toHaveLength(400);
    expect(performance.now() - startedAt).toBeLessThan(SILENCE - 1_000);
    expect(await log.published(key)).toHaveLength(1);
  });

  it('is counted down by one caller while another waits, a thousand times (Redisson: RedissonCountDownLatchConcurrentTest testSingleCountDownAwait_SingleInstance)', async () => {
    const { mine, key } = stage();
    const latches = Array.from({ length: 50 }, (_, n) => mine.countDownLatch(`${key}-${n}`));
    for (let round = 0; round < 20; round++) {
      const rounds = latches.map(async (latch) => {
        expect(await latch.trySetCount(1)).toBe(true);
        await Promise.all([latch.await({ wait: 20_000 }), latch.countDown()]);
        expect(await latch.getCount()).toBe(0);
      });
      await Promise.all(rounds);
    }
  });

  it('opens for a waiter when it is deleted', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(3);
    const startedAt = performance.now();
    const opened = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    await theirs.countDownLatch(key).delete();
    await opened;
    expect(performance.now() - startedAt).toBeLessThan(SILENCE);
  });

  it('opens a little later where the message is lost', async () => {
    const { mine, key } = stage();
    await mine.countDownLatch(key).trySetCount(1);
    const opened = mine.countDownLatch(key).await({ wait: 60_000 });
    await stage().listening(channel());
    await stage().command('DEL', key); // and publishes nothing
    const openedAt = performance.now();
    await opened;
    expect(performance.now() - openedAt).toBeLessThan(SILENCE + 2_000);
  }, 20_000);

  it('is waited for in spite of messages that do not open it', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const opened = latch.await({ wait: 20_000 });
    await stage().listening(channel());
    const { publish } = stage();
    const log = await stage().log();
    for (const message of ['1', '0']) await stage().command(publish, channel(), message);
    await eventually('it has looked', async () => (await log.commands('"evalsha"')).length > 0);
    await expect(latch.await({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError); // so it is still closed
    await theirs.countDownLatch(key).countDown();
    await opened;
  });

  it('ends the wait of a caller that aborts, and of no other', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(1);
    const abort = new AbortController();
    const why = new Error('enough');
    const impatient = mine.countDownLatch(key).await({ signal: abort.signal });
    const patient = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    abort.abort(why);
    await expect(impatient).rejects.toBeInstanceOf(LockAbortedError);
    await expect(impatient).rejects.toMatchObject({ cause: why, key });
    await theirs.countDownLatch(key).countDown();
    await patient;
    const signal = AbortSignal.abort(why);
    const again = mine.countDownLatch(key).await({ signal });
    await expect(again).rejects.toBeInstanceOf(LockAbortedError);
  });

  test('ends the wait and the subscription when the client closes', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const waiting = latch.await();
    waiting.catch(() => {});
    await stage().listening(channel());
    await mine.close();
    await expect(waiting).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(latch.await()).rejects.toBeInstanceOf(LockClientClosedError);
    await stage().listening(channel(), 0);
    await theirs.countDownLatch(key).delete();
  });

  it.each([0, -1, NaN, Infinity, '5'])('rejects a wait of %p', async (wait) => {
    const { mine, key } = stage();
    const refused = mine.countDownLatch(key).await({ wait: wait as number });
    await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
    await expect(refused).rejects.toMatchObject({ option: 'wait', value: wait, key });
  });

  function waiters(client: RedisLockClient, count: number): Promise<void>[] {
    const latch = client.countDownLatch(stage().key);
    return Array.from({ length: count }, () => latch.await({ wait: 60_000 }));
  }

  function channel(): string {
    return `redisson_countdownlatch__channel__{${stage().key}}`;
  }
}

/** How the latch is closed, and counted down. */
export function countDownLatchCountSuite({ it, test, stage }: OnRedis): void {
  test('is closed once, until it is open again (Redisson: RedissonCountDownLatchTest testTrySetCount)', async () => {
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

  test('stays open however often it is counted down (Redisson: RedissonCountDownLatchTest testCountDown)', async () => {
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

/** The keys on the servers and the messages; Redisson has to understand them. */
export function countDownLatchLayoutSuite({ it, test, stage }: OnRedis): void {
  test('is a number that does not expire, and no key when it is open', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('2');
    expect(await stage().command('PTTL', key)).toBe(-1);
    await latch.countDown();
    expect(await stage().command('GET', key)).toBe('1');
    await latch.countDown();
    expect(await stage().command('EXISTS', key)).toBe(0);
  });

  test('publishes `1` when it is closed and `0` when it opens, and nothing in between', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    const log = await stage().log();
    await latch.trySetCount(2);
    expect(await log.published(key)).toEqual([`${stage().publish} ${channel(key)} 1`]);
    await latch.trySetCount(5);
    await latch.countDown();
    expect(await log.published(key)).toHaveLength(1);
    await latch.countDown();
    await latch.countDown();
    expect((await log.published(key)).slice(1)).toEqual([`${stage().publish} ${channel(key)} 0`]);
  });

  // Redisson publishes `1`, which does not wake its own waiters.
  test('publishes `0` when it is deleted', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    const log = await stage().log();
    await latch.delete();
    await latch.delete();
    expect(await log.published(key)).toEqual([`${stage().publish} ${channel(key)} 0`]);
  });

  test('is counted down by Redisson', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 2);
    const latch = mine.countDownLatch(key);
    expect(await latch.countDown()).toBe(1);
    const opened = latch.await({ wait: 4_000 }); // it would not look by itself before that
    await stage().listening(channel(key));
    await stage().command('DEL', key);
    await stage().command(stage().publish, channel(key), '0');
    await opened;
  });

  test('has the prefix of its client in its names', async () => {
    const { key } = stage();
    const client = await stage().client({ prefix: 'app:' });
    const latch = client.countDownLatch(key);
    await latch.trySetCount(1);
    expect(await stage().keys()).toEqual([`app:${key}`]);
    const opened = latch.await({ wait: 4_000 });
    const server = await stage().deployment.masterOf(`app:${key}`);
    const channels = stage().isCluster ? 'SHARDCHANNELS' : 'CHANNELS';
    await eventually('it listens', async () => {
      const listened = (await server.command('PUBSUB', channels)) as string[];
      return listened.includes(channel(`app:${key}`));
    });
    await latch.countDown();
    await opened;
  });

  test('puts braces around a key that contains braces, which a cluster rejects', async () => {
    const { mine, theirs } = stage();
    const key = `{${stage().key}}:orders`;
    if (stage().isCluster) {
      expect(() => mine.countDownLatch(key)).toThrow(LockKeyError);
      return;
    }
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const opened = latch.await({ wait: 4_000 });
    await stage().listening(`redisson_countdownlatch__channel__{${key}}`);
    await theirs.countDownLatch(key).countDown();
    await opened;
  });

  it('shares its key with no other kind in a client', () => {
    const { mine, key } = stage();
    mine.countDownLatch(key);
    expect(() => mine.mutex(key)).toThrow(LockKeyError);
    expect(() => mine.countDownLatch(key)).not.toThrow();
  });

  function channel(name: string): string {
    return `redisson_countdownlatch__channel__{${name}}`;
  }
}
