import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';

const LOSSES = 500;

describe('When the reply about a latch is lost', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;
  let locks: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    await redis.flushall();
    proxy = await RedisProxy.start(server);
    const { port } = proxy;
    locks = await clients.on(
      server.client({ port, retryStrategy: () => 1, maxRetriesPerRequest: null }),
    );
  });
  afterEach(async () => {
    await clients.close();
    await proxy.stop();
  });

  /** Does something while the reply to the next script about the latch is lost. */
  async function losing<T>(work: () => Promise<T>): Promise<T> {
    const isScript = ([name, , , on]: readonly string[]) => /^eval/i.test(name!) && on === key;
    const loss = proxy.loseReply((command) => isScript(command) && loss.lost === 0);
    const result = await work();
    loss.stop();
    expect(loss.lost).toBe(1);
    return result;
  }

  it(`${LOSSES} times, each counts down by one, and the last one opens it`, async () => {
    const latch = locks.countDownLatch(key);
    await latch.trySetCount(LOSSES);
    const opened = (await clients.on(server.client())).countDownLatch(key).await();
    for (let left = LOSSES - 1; left > 0; left--) {
      expect(await losing(() => latch.countDown())).toBe(left);
      expect(await redis.get(key)).toBe(`${left}`);
    }
    expect(await isSettled(opened)).toBe(false);
    expect(await losing(() => latch.countDown())).toBe(0);
    await opened;
    await eventually('nothing is left', async () => (await locksLeft(server)).length === 0);
  });

  it('a waiter asks again, and goes on when it opens', async () => {
    const latch = locks.countDownLatch(key);
    await latch.trySetCount(1);
    let isOpen = false;
    const opened = losing(() => latch.await().then(() => (isOpen = true)));
    await eventually('it listens', async () => (await redis.pubsub('CHANNELS')).length === 1);
    expect(isOpen).toBe(false);
    expect(await latch.countDown()).toBe(0);
    await opened;
    expect(isOpen).toBe(true);
  });
});
