import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockClientDuplicateError,
  LockClientUnknownError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
  type Lease,
  type LockClient,
} from '../../../lib/core/index.js';
import type { RedisLock, RedisLockClient } from '../../../lib/redis/index.js';
import { LockTesting } from '../../../lib/testing/index.js';

type Create = (testing: LockTesting, name?: string) => LockClient | Promise<LockClient>;

describe.each<{ what: string; create: Create; isOnRedis: boolean }>([
  {
    what: 'a client',
    create: (testing, ...name) => testing.createClient(...name),
    isOnRedis: false,
  },
  {
    what: 'a client on a simulated Redis',
    create: (testing, ...name) => testing.createRedisClient(...name),
    isOnRedis: true,
  },
])('LockTesting, with $what,', ({ create, isOnRedis }) => {
  let testing: LockTesting;
  let client: LockClient;
  let states: string[];
  const held = (key: string) => testing.held().filter((lock) => lock.key === key).length;

  beforeEach(async () => {
    testing = new LockTesting();
    client = await create(testing);
    states = [];
    client.on('connection', ({ state }) => states.push(state));
    await client.connect();
  });
  afterEach(async () => {
    await testing.resume();
    await client.close();
  });

  it('has locks that are free taken without the clock being wound', async () => {
    await client.mutex('door').using(async () => expect(held('door')).toBe(1));
    expect([testing.now, held('door')]).toEqual([0, 0]);
  });

  it('shows holders and waiters, in order', async () => {
    await using _ = await client.mutex('door').acquire({ method: 'Orders.pay' });
    const stop = new AbortController();
    const waits = ['first', 'second'].map((method) =>
      client.mutex('door').acquire({ method, signal: stop.signal }),
    );
    await testing.advance(1_500);
    expect(testing.held()).toMatchObject([{ key: 'door', method: 'Orders.pay', forMs: 1_500 }]);
    expect(testing.waiting()).toMatchObject([
      { key: 'door', method: 'first', forMs: 1_500 },
      { key: 'door', method: 'second' },
    ]);
    stop.abort();
    await Promise.allSettled(waits);
    expect(testing.waiting()).toEqual([]);
  });

  it('shows them in order also when some have gone', async () => {
    const shown = () =>
      [testing.held(), testing.waiting()].map((all) => all.map((it) => it.method));
    const acquires: Promise<Lease>[] = [];
    for (const method of ['first', 'second', 'third', 'fourth', 'fifth'])
      acquires.push(client.semaphore('pool', { permits: 2 }).acquire({ method }));
    await testing.advance(0);
    expect(shown()).toEqual([
      ['first', 'second'],
      ['third', 'fourth', 'fifth'],
    ]);
    await (await acquires[0])?.release();
    await testing.advance(0);
    expect(shown()).toEqual([
      ['second', 'third'],
      ['fourth', 'fifth'],
    ]);
    for (const acquire of acquires) await (await acquire).release();
  });

  describe('advance', () => {
    it('ends a wait at its time, and not before', async () => {
      await using _ = await client.mutex('door').acquire();
      const ends: unknown[] = [];
      const wait = client.mutex('door').acquire({ wait: 60_000 });
      const end = wait.catch((error: unknown) => ends.push(error));
      await testing.advance(59_999);
      expect(ends).toEqual([]);
      await testing.advance(1);
      expect(ends).toEqual([expect.any(LockTimeoutError)]);
      await end;
    });

    it('leaves a lock that is held for an hour with its holder', async () => {
      await using lease = await client.mutex('door').acquire();
      await testing.advance(3_600_000);
      expect(lease.isHeld).toBe(true);
      expect(lease.signal.aborted).toBe(false);
      expect(states).toEqual(['CONNECTED']);
    });

    it.each([-1, NaN, Infinity])('refuses %p', async (ms) => {
      await expect(testing.advance(ms)).rejects.toBeInstanceOf(LockOptionsError);
    });
  });

  describe('loseLease', () => {
    it('takes the lock from its holder, notifies it at once, and gives the lock to the next', async () => {
      const lost: unknown[] = [];
      client.on('lost', ({ key, error }) => lost.push(key, error));
      await using first = await client.mutex('door').acquire();
      const { signal } = first;
      const next = client.mutex('door').acquire();
      await testing.loseLease('door');
      expect(signal.reason).toBeInstanceOf(LockLostError);
      expect(first.isHeld).toBe(false);
      expect(lost).toEqual(['door', expect.any(LockLostError)]);
      await using second = await next;
      expect([second.isHeld, testing.now]).toEqual([true, 0]);
    });

    it('takes it from a holder that had waited', async () => {
      const first = await client.mutex('door').acquire();
      const next = client.mutex('door').acquire();
      await first.release();
      await using second = await next;
      await testing.loseLease('door');
      expect(second.isHeld).toBe(false);
    });

    it('takes a key from all holders that share it, and takes no other key', async () => {
      const shared = client.readWriteLock('cache').readLock();
      await using a = await shared.acquire();
      await using b = await shared.acquire();
      await using other = await client.semaphore('pool', { permits: 2 }).acquire();
      await testing.loseLease('cache');
      expect([a.isHeld, b.isHeld, other.isHeld]).toEqual([false, false, true]);
      await testing.loseLease('pool');
      expect(other.isHeld).toBe(false);
    });

    it('says what is held when that key has no holder', async () => {
      await expect(testing.loseLease('door')).rejects.toThrow(
        'No caller holds "door" of lock client "default"; the client holds nothing.',
      );
      await using _ = await client.mutex('window').acquire();
      await expect(testing.loseLease('door')).rejects.toThrow('the client holds "window".');
    });

    it('is refused while the client could not learn of it', async () => {
      await using lease = await client.mutex('door').acquire();
      await testing.suspend();
      await expect(testing.loseLease('door')).rejects.toThrow('Call `resume()` first.');
      expect(lease.isHeld).toBe(true);
    });
  });

  describe('suspend', () => {
    it('makes acquires wait, and leaves leases alone, until resume', async () => {
      await using lease = await client.mutex('door').acquire();
      await testing.suspend();
      expect(client.status()).toMatchObject({ health: 'degraded', state: 'SUSPENDED' });
      const waits = client.mutex('window').acquire();
      await testing.advance(20_000);
      expect([lease.isHeld, testing.waiting().length]).toEqual([true, 1]);
      await testing.resume();
      expect([client.status().health, states.at(-1)]).toEqual(['up', 'RECONNECTED']);
      await using window = await waits;
      expect([lease.isHeld, window.isHeld]).toEqual([true, true]);
      expect(testing.now).toBe(20_000);
    });

    it('makes every kind of lock wait, and a release too', async () => {
      const held = await client.mutex('door').acquire();
      await testing.suspend();
      const released = held.release();
      const cache = client.readWriteLock('cache');
      const [mutex, pool] = [
        client.semaphoreMutex('gate'),
        client.semaphore('pool', { permits: 2 }),
      ];
      const all = client.multiLock([client.mutex('a'), client.mutex('b')]);
      const locks = [mutex, pool, cache.readLock(), all];
      const acquires = locks.map((lock): Promise<Lease> => lock.acquire());
      const attempt = client.mutex('window').tryAcquire();
      await testing.advance(1_000);
      expect(testing.waiting()).toHaveLength(5);
      await testing.resume();
      await released;
      const leases = await Promise.all([...acquires, attempt]);
      expect(leases.map((lease) => lease?.isHeld)).toEqual([true, true, true, true, true]);
      expect(testing.held()).toHaveLength(6);
      for (const lease of leases) await lease?.release();
      expect(testing.held()).toEqual([]);
    });

    it('lets an acquire time out', async () => {
      await testing.suspend();
      const wait = client.mutex('door').acquire({ wait: 1_000 });
      const end = expect(wait).rejects.toBeInstanceOf(LockTimeoutError);
      await testing.advance(1_000);
      await end;
    });

    it('costs all leases when it outlasts the session, and waiters nothing', async () => {
      await using lease = await client.mutex('door').acquire();
      const next = client.mutex('door').acquire();
      await testing.suspend();
      await testing.advance(30_000);
      expect(lease.isHeld).toBe(false);
      await testing.advance(1); // on Redis, it is over after that time, not at it
      expect(client.status()).toMatchObject({ health: 'down', state: 'LOST' });
      await testing.resume();
      await using second = await next;
      expect(second.isHeld).toBe(true);
      expect(states.slice(0, 2)).toEqual(['CONNECTED', 'SUSPENDED']);
      expect(states.at(-1)).toBe('RECONNECTED');
      expect(states.includes('LOST')).toBe(!isOnRedis);
    });

    it('can be done again', async () => {
      for (let time = 0; time < 3; time++) {
        await testing.suspend();
        await testing.suspend();
        await testing.advance(7_000);
        await testing.resume();
        await testing.resume();
        expect([client.status().health, states.at(-1)]).toEqual(['up', 'RECONNECTED']);
      }
    });
  });

  describe('expire', () => {
    it('costs all leases; waiters queue again in the session that follows', async () => {
      const { sessionId = 'none before' } = client.status();
      await using door = await client.mutex('door').acquire();
      await using window = await client.mutex('window').acquire();
      const next = client.mutex('door').acquire();
      await testing.expire();
      expect([door.isHeld, window.isHeld]).toEqual([false, false]);
      expect([client.status().health, states.at(-1)]).toEqual(['up', 'RECONNECTED']);
      expect(client.status().sessionId).not.toBe(sessionId);
      await using second = await next;
      expect([second.isHeld, testing.now]).toEqual([true, 0]);
      expect(states.includes('LOST')).toBe(!isOnRedis);
    });

    it('ends a suspension', async () => {
      await using lease = await client.mutex('door').acquire();
      await testing.suspend();
      await testing.expire();
      expect([lease.isHeld, client.status().health]).toEqual([false, 'up']);
    });
  });

  it('has one time for all clients, and distinguishes them by their names', async () => {
    const other = testing.createClient('other', { wait: 500 });
    await other.connect();
    await using mine = await client.mutex('door').acquire();
    await using theirs = await other.mutex('door').acquire();
    const wait = expect(other.mutex('door').acquire()).rejects.toBeInstanceOf(LockTimeoutError);
    await testing.advance(500);
    await wait;
    await testing.loseLease('door', 'other');
    expect([mine.isHeld, theirs.isHeld]).toEqual([true, false]);
    await testing.suspend('other');
    expect([client.status().state, other.status().state]).toEqual(['CONNECTED', 'SUSPENDED']);
    await testing.expire('other');
    await other.close();
    expect(() => testing.held('nobody')).toThrow(LockClientUnknownError);
  });

  it('makes one client of each name', async () => {
    const second = async () => await create(testing);
    await expect(second()).rejects.toThrow(LockClientDuplicateError);
  });
});

describe('A client in virtual time', () => {
  it.each([{ wait: 0 }, { basePath: 'locks' }])('refuses to be made with %p', (options) => {
    expect(() => new LockTesting().createClient('other', options)).toThrow(LockOptionsError);
  });

  it.each([{ wait: 0 }, { watchdogTimeout: 1 }])(
    'refuses to be made for a simulated Redis with %p',
    async (options) => {
      const made = new LockTesting().createRedisClient('other', options);
      await expect(made).rejects.toThrow(LockOptionsError);
    },
  );
});

describe('A client in virtual time that stands for Redis', () => {
  let testing: LockTesting;
  let redis: RedisLockClient;

  beforeEach(async () => {
    testing = new LockTesting();
    redis = testing.createClient('redis', { backend: 'redis' }) as RedisLockClient;
    await redis.connect();
  });
  afterEach(() => redis.close());

  it('loses what was acquired with a lease when that is over, and nothing else', async () => {
    const lock = redis.mutex('door');
    await using lasting = await redis.mutex('window').acquire();
    await using held = await lock.acquire({ lease: 5_000 });
    const next = lock.acquire();
    await testing.advance(4_999);
    expect(held.isHeld).toBe(true);
    await testing.advance(1);
    expect(held.isHeld).toBe(false);
    expect(held.signal.reason).toBeInstanceOf(LockLostError);
    await using second = await next;
    await testing.advance(60_000);
    expect([lasting.isHeld, second.isHeld]).toEqual([true, true]);
  });

  it('has the lease in each of its locks, and does not lose what is released before', async () => {
    const cache = redis.readWriteLock('cache');
    const lost: string[] = [];
    redis.on('lost', ({ key }) => lost.push(key));
    const pool = redis.semaphore('pool', { permits: 1 });
    const locks = [redis.semaphoreMutex('gate'), cache.readLock()] as RedisLock[];
    for (const lock of locks)
      await lock.using((lease) => expect(lease.isHeld).toBe(true), { lease: 1_000 });
    await testing.advance(1_000);
    expect(lost).toEqual([]);
    await Promise.all(locks.map((lock) => lock.tryAcquire({ lease: 1_000 })));
    await pool.acquire({ lease: 1_000 });
    await testing.advance(1_000);
    expect(lost.toSorted()).toEqual(['cache', 'gate', 'pool']);
  });

  it('checks the lease, which others refuse', async () => {
    expect(() => redis.validateLease(1_000)).not.toThrow();
    expect(() => redis.validateLease(1)).toThrow(LockOptionsError);
    const other = testing.createClient();
    expect(() => other.validateLease(1_000)).toThrow(LockOptionsError);
    await expect(redis.mutex('door').acquire({ lease: 1 })).rejects.toThrow(LockOptionsError);
  });

  it('takes parts of a multi-lock', async () => {
    const all = redis.multiLock([redis.mutex('a'), redis.mutex('b')]);
    await all.using(async () => {
      expect(testing.held('redis')).toHaveLength(2);
      await redis.mutex('a').using((lease) => expect(lease.isHeld).toBe(true));
    });
    expect(testing.held('redis')).toEqual([]);
  });

  it.each(['countDownLatch', 'plainSemaphore', 'spinLock'] as const)(
    'says where `%s` is, which it does not have',
    (method) => {
      expect(() => redis[method]('gate')).toThrow(
        `\`${method}\` of Redis is not in LockTestingModule. Import RedisLockTestingModule in its place.`,
      );
    },
  );
});
