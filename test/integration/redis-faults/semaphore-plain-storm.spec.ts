import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { LockAbortedError, LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { redisStorm } from '../support/redis-storm.js';

const CLIENTS = 3;
const WORKERS = 12;
const PERMITS = 4;
const DURATION = 10_000;
const KEY = 'plain';

describe('Twelve workers that want permits without an owner while connections break at random', () => {
  const clients = new RedisLockClients();
  const proxies: RedisProxy[] = [];
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());
  afterEach(async () => {
    await clients.close();
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  /** Clients that send again what was not answered. */
  async function connect(): Promise<RedisLockClient> {
    const proxy = await RedisProxy.start(server);
    proxies.push(proxy);
    const { port } = proxy;
    const retryStrategy = () => 10;
    return clients.on(server.client({ port, retryStrategy, maxRetriesPerRequest: null }));
  }

  it('never have more than there are, and all permits are free in the end', async () => {
    const all = await Promise.all(Array.from({ length: CLIENTS }, connect));
    await all[0]!.plainSemaphore(KEY).trySetPermits(PERMITS);
    const end = performance.now() + DURATION;
    const isOver = () => performance.now() >= end;
    const faults: string[] = [];
    let taken = 0;

    const visit = async (semaphore: RedisSemaphore, random: () => number) => {
      const permits = 1 + Math.floor(random() * 3);
      const signal = random() < 0.3 ? AbortSignal.timeout(Math.floor(random() * 100)) : undefined;
      await semaphore.acquire({ permits, wait: 50 + random() * 1_000, signal });
      taken += permits;
      if (taken > PERMITS) faults.push(`${taken} taken of ${PERMITS}`);
      await delay(random() * 20);
      taken -= permits;
      await semaphore.release(permits);
    };
    const working = Array.from({ length: WORKERS }, async (_, n) => {
      const semaphore = all[n % CLIENTS]!.plainSemaphore(KEY);
      const random = seededRandom(n);
      let served = 0;
      while (!isOver())
        await visit(semaphore, random).then(
          () => (served += 1),
          (error: Error) => {
            const isMeant = error instanceof LockTimeoutError || error instanceof LockAbortedError;
            if (!isMeant) throw error;
          },
        );
      return served;
    });
    const observing = async () => {
      while (!isOver()) {
        const free = Number(await redis.get(KEY));
        if (free < 0 || free > PERMITS) faults.push(`${free} free of ${PERMITS}`);
        await delay(10);
      }
    };
    const storms = proxies.map((proxy, n) => redisStorm(proxy, seededRandom(n), 500, isOver));
    const [served] = await Promise.all([Promise.all(working), observing(), ...storms]);

    expect(faults).toEqual([]);
    expect(Math.min(...served)).toBeGreaterThan(0);
    await eventually('all are free', async () => (await redis.get(KEY)) === `${PERMITS}`);
    await eventually('nothing else is left', async () => (await locksLeft(server)).length === 1);
  });
});
