import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Script } from '../../lib/redis/connection/script.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { latchCountDown, latchDelete, latchSet } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy, type LostReplies } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const KEY = 'orders';

describe('A count-down latch after the reply to an executed command was lost', () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let direct: RedisLockClient;
  let client: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });
  beforeEach(async () => {
    direct = await createRedisLockClient('direct', { connect: server.url });
    const connection = server.client({ port: proxy.port, retryStrategy: () => 50 });
    client = await createRedisLockClient('proxied', { client: connection });
    await Promise.all([direct.connect(), client.connect()]);
    const warm = client.countDownLatch('warm'); // from here on the server knows the scripts by their digests
    await warm.trySetCount(1);
    await warm.countDown();
    await warm.delete();
    await server.command('FLUSHALL');
  });
  afterEach(async () => {
    proxy.resume();
    await Promise.all([direct.close(), client.close()]);
  });

  it('is counted down once, and reports the remaining count to its caller', async () => {
    await direct.countDownLatch(KEY).trySetCount(3);
    const losses = lose(latchCountDown);
    expect(await client.countDownLatch(KEY).countDown()).toBe(2);
    expect(losses.lost).toBe(1);
    expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
    await isRemembered();
  });

  it('is counted down once, however often the command was sent', async () => {
    await direct.countDownLatch(KEY).trySetCount(3);
    const losses = lose(latchCountDown, 4);
    expect(await client.countDownLatch(KEY).countDown()).toBe(2);
    expect(losses.lost).toBe(4);
    expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
  });

  it('stays open, and its next use is not counted down', async () => {
    const latch = direct.countDownLatch(KEY);
    await latch.trySetCount(1);
    const losses = lose(latchCountDown);
    const last = client.countDownLatch(KEY).countDown();
    await latch.await();
    await latch.trySetCount(2);
    expect(await last).toBe(0);
    expect(losses.lost).toBe(1);
    expect(await latch.getCount()).toBe(2);
  });

  it('reports to its caller that it closed the latch', async () => {
    const losses = lose(latchSet);
    expect(await client.countDownLatch(KEY).trySetCount(2)).toBe(true);
    expect(losses.lost).toBe(1);
    expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
    await isRemembered();
  });

  it('is not closed again once it was opened', async () => {
    const latch = direct.countDownLatch(KEY);
    const losses = lose(latchSet);
    const closed = client.countDownLatch(KEY).trySetCount(1);
    await eventually('it is closed', async () => (await latch.getCount()) === 1);
    await latch.countDown();
    expect(await closed).toBe(true);
    expect(losses.lost).toBe(1);
    expect(await latch.getCount()).toBe(0);
  });

  it('reports to its caller that it deleted the latch, and is left alone once it is closed again', async () => {
    const latch = direct.countDownLatch(KEY);
    await latch.trySetCount(1);
    const losses = lose(latchDelete);
    const deleted = client.countDownLatch(KEY).delete();
    await latch.await();
    await latch.trySetCount(2);
    expect(await deleted).toBe(true);
    expect(losses.lost).toBe(1);
    expect(await latch.getCount()).toBe(2);
  });

  it('is waited for over a connection that breaks', async () => {
    const latch = direct.countDownLatch(KEY);
    await latch.trySetCount(1);
    const opened = client.countDownLatch(KEY).await({ wait: 20_000 });
    await eventually('it listens', async () => {
      const [, there] = (await server.command(
        'PUBSUB',
        'NUMSUB',
        `redisson_countdownlatch__channel__{${KEY}}`,
      )) as [string, number];
      return there === 1;
    });
    proxy.cut();
    await latch.countDown();
    const openedAt = performance.now();
    await opened;
    expect(performance.now() - openedAt).toBeLessThan(5_000); // the connection is restored long before the wait that a lost message causes
  });

  /** Loses the replies to that script the given number of times. */
  function lose({ sha1 }: Script, times = 1): LostReplies {
    const losses = proxy.loseReply(([, script]) => script === sha1 && losses.lost < times);
    return losses;
  }

  /** Only the answer is kept, for copies of the request that may arrive later. */
  async function isRemembered(): Promise<void> {
    const keys = (await server.command('KEYS', '*')) as string[];
    const answers = keys.filter((name) => /^interlock_requests?:/.test(name));
    expect(keys.filter((name) => !answers.includes(name))).toEqual([KEY]);
    expect(answers).not.toEqual([]);
    for (const name of answers)
      expect(await server.command('PTTL', name)).toBeGreaterThan(15 * 60_000);
    await direct.countDownLatch(KEY).delete();
  }
});
