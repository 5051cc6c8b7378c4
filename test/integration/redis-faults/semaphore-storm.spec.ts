import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { redisStorm } from '../support/redis-storm.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { SemaphoreObserver } from './semaphore-observer.js';

const CLIENTS = 3;
const WORKERS = 20;
const PERMITS = 4;
const DURATION = 20_000;
const LEASE = 600;

/** How a visit may end, if not well. */
const ENDS = [LockTimeoutError, LockAbortedError, LockConnectionError, LockLostError];

describe('Twenty workers of three clients with connections that break and stall at random', () => {
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

  /** Clients that do, or do not, send again what was not answered. */
  async function connect(_: unknown, n: number): Promise<RedisLockClient> {
    const proxy = await RedisProxy.start(server);
    proxies.push(proxy);
    const maxRetriesPerRequest = n % 2 === 0 ? null : 0;
    const retryStrategy = () => 10;
    const client = server.client({ port: proxy.port, retryStrategy, maxRetriesPerRequest });
    return clients.on(client, { watchdogTimeout: LEASE });
  }

  /** Has some permits for a while, long or short. */
  async function visit(
    semaphore: RedisPermitExpirableSemaphore,
    observer: SemaphoreObserver,
    random: () => number,
  ): Promise<void> {
    const options = {
      permits: 1 + Math.floor(random() * 3),
      wait: 100 + random() * 2_000,
      signal: random() < 0.2 ? AbortSignal.timeout(Math.floor(random() * 300)) : undefined,
      lease: random() < 0.3 ? LEASE : undefined,
    };
    const duration = random() < 0.03 ? 1.5 * LEASE : random() * 30;
    const lease = await semaphore.acquire(options);
    observer.enter(lease);
    await delay(duration);
    observer.leave(lease);
    await lease.release();
  }

  async function work(
    semaphore: RedisPermitExpirableSemaphore,
    observer: SemaphoreObserver,
    random: () => number,
    isOver: () => boolean,
  ): Promise<number> {
    let served = 0;
    while (!isOver())
      await visit(semaphore, observer, random).then(
        () => (served += 1),
        (error: Error) => {
          if (!ENDS.some((end) => error instanceof end)) throw error;
        },
      );
    return served;
  }

  /** Takes one permit away for a while, again and again, and looks all the time. */
  async function observe(
    observer: SemaphoreObserver,
    random: () => number,
    isOver: () => boolean,
  ): Promise<void> {
    while (!isOver()) {
      for (const permits of [PERMITS - 1, PERMITS]) {
        await observer.resize(permits);
        const looks = 20 + random() * 30;
        for (let n = 0; n < looks; n++) {
          await observer.look();
          await delay(10);
        }
      }
    }
  }

  it('never have more permits than there are, are all served, and leave nothing', async () => {
    const all = await Promise.all(Array.from({ length: CLIENTS }, connect));
    const calm = await clients.on(server.client());
    const end = performance.now() + DURATION;
    const isOver = () => performance.now() >= end;

    const observed = SEMAPHORES.map(async ([name, of], k) => {
      const semaphore = of(calm, name, PERMITS);
      await semaphore.using(() => {}); // so it is there
      const observer = new SemaphoreObserver(redis, semaphore, PERMITS);
      const working = Array.from({ length: WORKERS }, (_, n) => {
        const random = seededRandom(100 * n + k);
        return work(of(all[n % CLIENTS]!, name, PERMITS), observer, random, isOver);
      });
      const observing = observe(observer, seededRandom(k), isOver);
      const [served] = await Promise.all([Promise.all(working), observing]);
      return { name, served, observer };
    });
    const storms = proxies.map((proxy, n) => redisStorm(proxy, seededRandom(n), 2 * LEASE, isOver));
    const results = await Promise.all(observed);
    await Promise.all(storms);

    for (const { name, served, observer } of results) {
      expect({ name, faults: observer.faults }).toEqual({ name, faults: [] });
      expect(Math.min(...served)).toBeGreaterThan(0);
      expect(observer.looks).toBeGreaterThan(100);
    }
    for (const [name, of] of SEMAPHORES)
      await of(calm, name, PERMITS).using(() => {}, { permits: PERMITS, wait: 5_000 });
    await clients.close();
    const names = SEMAPHORES.flatMap(([name]) => [name, `interlock_permits:{${name}}`]);
    await eventually('nothing else is left', async () => {
      expect((await locksLeft(server)).sort()).toEqual(names.sort());
      return true;
    });
    for (const [name] of SEMAPHORES) expect(await redis.get(name)).toBe(`${PERMITS}`);
  }, 60_000);
});
