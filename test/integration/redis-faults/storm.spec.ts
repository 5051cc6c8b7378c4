import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import type { AnyRedisLock } from '../support/redis-lock-kinds.js';
import { redisStorm } from '../support/redis-storm.js';
import { ValidLeases } from '../support/valid-leases.js';

const CLIENTS = 6;
const DURATION = 10_000;
const LEASE = 600;

/** How a visit may end in a storm, if not well. */
const ENDS = [LockTimeoutError, LockAbortedError, LockConnectionError, LockLostError];

/** The lock, or one of its halves. */
type LockOf = (locks: RedisLockClient, isShared: boolean) => AnyRedisLock;

const room =
  (key: string, preferWriters: boolean): LockOf =>
  (locks, isShared) => {
    const lock = locks.readWriteLock(key, { preferWriters });
    return isShared ? lock.readLock() : lock.writeLock();
  };

const LOCKS: [name: string, of: LockOf, readers: number][] = [
  ['mutex', (locks) => locks.mutex('mutex', { fenced: true }), 0],
  ['fair mutex', (locks) => locks.mutex('fair', { fair: true, fenced: true }), 0],
  ['read/write lock', room('room', false), 0.6],
  ['read/write lock that prefers writers', room('preferring', true), 0.6],
];

describe('Six clients with connections that break and stall at random', () => {
  const clients = new RedisLockClients();
  const proxies: RedisProxy[] = [];
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
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
    const client = server.client({
      port: proxy.port,
      retryStrategy: () => 10,
      maxRetriesPerRequest,
    });
    return clients.on(client, { watchdogTimeout: LEASE });
  }

  /** Takes the lock again and again, for a while, long or short. */
  async function visit(
    lock: (isShared: boolean) => AnyRedisLock,
    readers: number,
    leases: ValidLeases,
    random: () => number,
  ): Promise<void> {
    const isShared = random() < readers;
    const options = {
      wait: 200 + random() * 2_000,
      signal: random() < 0.2 ? AbortSignal.timeout(Math.floor(random() * 300)) : undefined,
      lease: random() < 0.3 ? LEASE : undefined,
    };
    const duration = random() < 0.03 ? 1.5 * LEASE : random() * 10;
    const lease = await lock(isShared).acquire(options);
    leases.enter(lease, isShared);
    try {
      if (readers === 0) leases.present(lease, await lease.fencingToken());
      await delay(duration);
    } finally {
      leases.leave(lease);
      await lease.release();
    }
  }

  it('hold no lock at the same time, are all served, and leave nothing', async () => {
    const all = await Promise.all(Array.from({ length: CLIENTS }, connect));
    const end = performance.now() + DURATION;
    const isOver = () => performance.now() >= end;
    const storms = proxies.map((proxy, n) => redisStorm(proxy, seededRandom(n), 2 * LEASE, isOver));
    const visited = LOCKS.map(([name, of, readers], k) => {
      const leases = new ValidLeases();
      const visits = all.map(async (locks, n) => {
        const random = seededRandom(100 * n + k);
        let served = 0;
        while (!isOver()) {
          await visit((isShared) => of(locks, isShared), readers, leases, random).then(
            () => (served += 1),
            (error: Error) => {
              if (!ENDS.some((end) => error instanceof end)) throw error;
            },
          );
        }
        return served;
      });
      return Promise.all(visits).then((served) => ({ name, served, overlaps: leases.overlaps }));
    });
    const results = await Promise.all(visited);
    await Promise.all(storms);

    for (const { name, served, overlaps } of results) {
      expect({ name, overlaps }).toEqual({ name, overlaps: [] });
      expect(Math.min(...served)).toBeGreaterThan(0);
    }
    for (const locks of all)
      for (const [, of] of LOCKS) await of(locks, false).using(() => {}, { wait: 5_000 });
    await clients.close();
    await eventually('nothing is left', async () => (await locksLeft(server)).length === 0);
  });
});
