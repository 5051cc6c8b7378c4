import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';

const WAITERS = 20;

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';

describe('When 20 wait for a latch', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;
  let locks: RedisLockClient;
  let key: string;
  let opened: Promise<void>[];

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    proxy = await RedisProxy.start(server);
    locks = await clients.on(server.client());
    await locks.countDownLatch(key).trySetCount(2);
    const wait = async () => {
      const waiter = await clients.on(server.client({ port: proxy.port }));
      return { opened: waiter.countDownLatch(key).await() };
    };
    const all = await Promise.all(Array.from({ length: WAITERS }, wait));
    opened = all.map((waiter) => waiter.opened);
    await listening();
  });
  afterEach(async () => {
    await clients.close();
    await proxy.stop();
  });

  async function listening(): Promise<void> {
    await eventually('all listen', async () => {
      const channel = `redisson_countdownlatch__channel__{${key}}`;
      const [, count] = await redis.pubsub('NUMSUB', channel);
      return Number(count) === WAITERS;
    });
  }

  /** Counts down to 0; resolves to how long it took until all went on. */
  async function open(): Promise<number> {
    const latch = locks.countDownLatch(key);
    expect(await latch.countDown()).toBe(1);
    expect(await isSettled(Promise.race(opened))).toBe(false);
    expect(await latch.countDown()).toBe(0);
    const start = performance.now();
    await Promise.all(opened);
    return performance.now() - start;
  }

  it.each([
    ['by CLIENT KILL', () => server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')],
    ['by the network', async () => proxy.cut(isSubscribe)],
  ])(
    'and the connections of subscribers are killed (%s), all go on within a second',
    async (_, kill) => {
      await kill();
      expect(await open()).toBeLessThan(1_000);
    },
  );

  it('and all connections break, all go on within two seconds', async () => {
    proxy.cut();
    expect(await open()).toBeLessThan(2_000);
  });

  it('and Redis does not answer for a while, all go on when it does', async () => {
    server.freeze();
    const counted = open();
    expect(await isSettled(Promise.race(opened))).toBe(false);
    server.thaw();
    expect(await counted).toBeLessThan(1_000);
  });

  it('and Redis forgets it, all go on: what is not there is open', async () => {
    await server.kill();
    expect(await isSettled(Promise.race(opened))).toBe(false);
    await server.restart();
    await Promise.all(opened);
    expect(await locks.countDownLatch(key).getCount()).toBe(0);
  });
});
