import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { calm } from '../../support/calm.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';

const WAITERS = 20;

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';

describe('When the connection of a subscriber is killed while 20 wait for permits', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;
  let holder: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    proxy = await RedisProxy.start(server);
    holder = await clients.on(server.client());
  });
  afterEach(async () => {
    await clients.close();
    await proxy.stop();
  });

  const kills = [
    ['by CLIENT KILL', () => server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')],
    ['by the network', () => proxy.cut(isSubscribe)],
  ] as const;

  const waiting = () => clients.on(server.client({ port: proxy.port }));

  /** Waits until the server knows of so many subscriptions. */
  async function subscribed(count: number): Promise<void> {
    await eventually('all listen', async () => {
      const channels = await redis.pubsub('CHANNELS');
      const answer = await redis.pubsub('NUMSUB', ...(channels as string[]));
      const counts = answer.filter((_, i) => i % 2 === 1).map(Number);
      return counts.reduce((sum, n) => sum + n, 0) === count;
    });
  }

  describe.each(kills)('%s', (_kill, kill) => {
    it.each(SEMAPHORES)('of a %s each, all are granted within a second', async (_, of) => {
      const keys = Array.from({ length: WAITERS }, (_, n) => `${key} ${n}`);
      const held = await Promise.all(keys.map((name) => of(holder, name).acquire({ permits: 3 })));
      const locks = await waiting();
      const queued = keys.map((name) => of(locks, name).acquire({ permits: 2 }));
      await subscribed(WAITERS);
      await kill();
      await Promise.all(held.map((lease) => lease.release()));
      const start = performance.now();
      const leases = await Promise.all(queued);
      expect(performance.now() - start).toBeLessThan(1_000);
      expect(leases.every(({ isHeld }) => isHeld)).toBe(true);
    });

    it.each(SEMAPHORES)('of the same %s, none sleeps longer than a second', async (_, of) => {
      const lease = await of(holder, key).acquire({ permits: 3 });
      const all = await Promise.all(Array.from({ length: WAITERS }, waiting));
      const grants: number[] = [];
      const served = async (locks: RedisLockClient, n: number) => {
        const granted = await of(locks, key).acquire({ permits: 1 + (n % 3) });
        grants.push(performance.now());
        await granted.release();
      };
      const queued = all.map(served);
      await subscribed(WAITERS);
      await kill();
      await lease.release();
      grants.push(performance.now());
      await Promise.all(queued);
      grants.sort((a, b) => a - b); // some are served while the release is answered
      const gaps = grants.slice(1).map((time, n) => time - grants[n]!);
      expect(gaps).toHaveLength(WAITERS);
      expect(Math.max(...gaps)).toBeLessThan(1_000);
    });

    it('without an owner, none sleeps longer than a second', async () => {
      const semaphore = holder.plainSemaphore(key);
      await semaphore.trySetPermits(3);
      await semaphore.acquire({ permits: 3 });
      const all = await Promise.all(Array.from({ length: WAITERS }, waiting));
      const queued = all.map((locks) => locks.plainSemaphore(key).using(() => {}));
      await subscribed(WAITERS);
      await kill();
      await semaphore.release(3);
      const start = performance.now();
      await Promise.all(queued);
      expect(performance.now() - start).toBeLessThan(1_000);
      expect(await semaphore.availablePermits()).toBe(3);
    });
  });

  it.each(SEMAPHORES)('and does not come back, a waiter looks by itself (%s)', async (_, of) => {
    const lease = await of(holder, key).acquire({ permits: 3 });
    const queued = of(await waiting(), key).acquire({ permits: 2 });
    await subscribed(1);
    const loss = proxy.loseReply(isSubscribe);
    proxy.cut(isSubscribe);
    await eventually('it is tried in vain', () => loss.lost >= 2);
    await lease.release();
    const start = performance.now();
    expect(await queued).toMatchObject({ isHeld: true });
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it.each(SEMAPHORES)('again and again, messages wake the waiter (%s)', async (_, of) => {
    const locks = await waiting();
    for (let n = 0; n < 5; n++) {
      const lease = await of(holder, key).acquire({ permits: 3 });
      const queued = of(locks, key).acquire({ permits: 2 });
      await subscribed(1);
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await subscribed(1);
      await calm(() => proxy.commands.length);
      await lease.release();
      const start = performance.now();
      await (await queued).release();
      expect(performance.now() - start).toBeLessThan(1_000);
    }
  });
});
