import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { asOwn } from '../support/as-own.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { clientStatusLossSuite } from './client-status-loss.suite.js';
import { clientStatusSuite } from './client-status.suite.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';
import { standaloneRedis } from './standalone-redis.js';

clientStatusSuite(
  'a Redis server',
  async () => RedisStage.build(await standaloneRedis(), redisRecipes.mutex),
  { holders: (stage) => stage.contenders(), suspended: 'degraded' },
);

clientStatusLossSuite(
  'a Redis server that goes away',
  async () => {
    const server = await RedisServer.start();
    const client = server.client({ lazyConnect: true });
    return {
      client: await createRedisLockClient('contract', { client, watchdogTimeout: 2_000 }),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
  'degraded',
);

describe('A client on a Redis server', () => {
  let server: RedisServer;

  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());

  it('does not report latches and plain semaphores, which have no owner', async () => {
    const locks = await createRedisLockClient('contract', { client: server.client() });
    await locks.connect();
    const latch = locks.countDownLatch('latch');
    const semaphore = locks.plainSemaphore('plain');
    await latch.trySetCount(1);
    await semaphore.trySetPermits(1);
    await semaphore.acquire();
    const waits = [latch.await(), semaphore.acquire()];
    await eventually('both listen', async () => {
      const channels = (await server.command('PUBSUB', 'CHANNELS', 'redisson_*')) as string[];
      return channels.length === 2;
    });
    expect(locks.status()).toMatchObject({ health: 'up', held: 0, waiting: 0 });
    expect(locks.activity()).toEqual([]);

    await latch.countDown();
    await semaphore.release();
    await Promise.all(waits);
    await locks.close();
  });

  it('reports CLOSED, not LOST, when ioredis has given up', async () => {
    const watchdogTimeout = 300;
    const client = server.client();
    const locks = await createRedisLockClient('contract', {
      client: asOwn(client),
      watchdogTimeout,
    });
    await locks.connect();
    client.disconnect();
    await eventually('it is closed', () => locks.status().state === 'CLOSED');
    const closedAt = performance.now();
    await eventually('leases are over', () => performance.now() - closedAt > watchdogTimeout);
    expect(locks.status()).toMatchObject({ health: 'down', state: 'CLOSED' });
    await locks.close();
  });
});
