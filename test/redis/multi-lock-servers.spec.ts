import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { MultiLock } from '../../lib/core/multi-lock.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { KEPT } from '../support/kept-keys.js';

const KEY = 'orders';

/** One process: a client of each server. */
type Clients = readonly RedisLockClient[];

/** All keys except the records that identify late copies. */
async function locksOn(server: RedisServer): Promise<string[]> {
  const keys = (await server.command('KEYS', '*')) as string[];
  return keys.filter((name) => !KEPT.test(name));
}

/** Contains the cases of RedissonMultiLockTest, each marked with its name. */
describe('A multi-lock of three independent Redis servers', () => {
  let servers: RedisServer[];
  let opened: RedisLockClient[];

  beforeAll(async () => {
    servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });
  beforeEach(() => {
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((client) => client.close()));
    for (const server of servers) expect(await locksOn(server)).toEqual([]);
  });

  it('keeps others out of each of its locks (Redisson: RedissonMultiLockTest test)', async () => {
    const [mine, theirs] = [await connect(), await connect()];
    const lease = await multiOf(mine).acquire();
    expect(lease.isHeld).toBe(true);
    for (const client of theirs) expect(await client.mutex(KEY).tryAcquire()).toBeUndefined();
    expect(await multiOf(theirs).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await multiOf(theirs).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is held, with all of its locks, from its grant to its release (Redisson: RedissonMultiLockTest testLockUnlock)', async () => {
    const clients = await connect();
    const locked = () => Promise.all(clients.map((client) => client.mutex(KEY).isLocked()));
    expect(await locked()).toEqual([false, false, false]);
    const lease = await multiOf(clients).acquire();
    expect([lease.isHeld, ...lease.leases.map(({ isHeld }) => isHeld)]).not.toContain(false);
    expect(await locked()).toEqual([true, true, true]);

    await lease.release();
    expect([lease.isHeld, ...lease.leases.map(({ isHeld }) => isHeld)]).not.toContain(true);
    expect(await locked()).toEqual([false, false, false]);
  });

  it('is granted to exactly one of ten concurrent attempts (Redisson: RedissonMultiLockTest testWaitAndLeaseTimeouts)', async () => {
    const racers = await Promise.all(Array.from({ length: 10 }, () => connect()));
    for (let round = 0; round < 5; round++) {
      const order = (clients: Clients) => (round % 2 ? clients.toReversed() : clients);
      const tries = racers.map((clients) => multiOf(order(clients)).tryAcquire());
      const granted = (await Promise.all(tries)).filter((lease) => lease !== undefined);
      expect(granted).toHaveLength(1);
      await granted[0]!.release();
    }
  });

  it('is granted to the second client once the first releases it (Redisson: RedissonMultiLockTest testMultiThreads)', async () => {
    const [mine, theirs] = [await connect(), await connect()];
    const lease = await multiOf(mine).acquire();
    const waiting = multiOf(theirs.toReversed()).acquire({ wait: 20_000 });
    await contended(theirs[0]!);
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('has the whole lease of all its locks at the end, however long it waited for the last', async () => {
    const [mine, theirs] = [await connect({ watchdogTimeout: 2_000 }), await connect()];
    const last = await theirs[2]!.mutex(KEY).acquire();
    const startedAt = performance.now();
    const waiting = multiOf(mine).acquire({ wait: 20_000 });
    await eventually('the first would be over', () => performance.now() - startedAt > 2_500);
    await last.release();
    const lease = await waiting;
    expect(lease.isHeld).toBe(true);
    for (const server of servers) expect(await server.command('PTTL', KEY)).toBeGreaterThan(0);
    await lease.release();
  });

  it('has one deadline for all its locks, and leaves nothing behind', async () => {
    const [mine, theirs] = [await connect(), await connect()];
    const first = await theirs[0]!.mutex(KEY).acquire();
    const last = await theirs[2]!.mutex(KEY).acquire();
    const startedAt = performance.now();
    const late = multiOf(mine).acquire({ wait: 600 });
    late.catch(() => {});
    await contended(mine[0]!);
    await first.release();
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 600 });
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(600));
    expect(waited).toBeLessThan(2_500);
    await last.release();
  });

  it('is not acquired at all while one of the servers is down', async () => {
    const clients = await connect();
    await servers[2]!.kill();
    try {
      const late = multiOf(clients).acquire({ wait: 400 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      for (const server of servers.slice(0, 2))
        await eventually('what was taken is released', async () => {
          const keys = await locksOn(server);
          return keys.length === 0;
        });
    } finally {
      await servers[2]!.restart();
    }
    await using lease = await multiOf(clients).acquire({ wait: 20_000 });
    expect(lease.isHeld).toBe(true);
  });

  /** A client of each server, under the names that they have in every process. */
  async function connect(options: { watchdogTimeout?: number } = {}): Promise<Clients> {
    const clients = servers.map(async ({ host, port }, n) => {
      const address = { host, port, disconnectTimeout: 0 };
      const client = await createRedisLockClient(`server ${n}`, { connect: address, ...options });
      opened.push(client);
      await client.connect();
      return client;
    });
    return Promise.all(clients);
  }

  function multiOf(clients: Clients): MultiLock {
    return clients[0]!.multiLock(clients.map((client) => client.mutex(KEY)));
  }

  /** Resolves when a client waits for the lock on that client's server. */
  async function contended(client: RedisLockClient): Promise<void> {
    const server = servers[Number(client.name.slice(-1))]!;
    await eventually('it is waited for', async () => {
      const channel = `redisson_lock__channel:{${KEY}}`;
      const [, there] = (await server.command('PUBSUB', 'NUMSUB', channel)) as [string, number];
      return there > 0;
    });
  }
});
