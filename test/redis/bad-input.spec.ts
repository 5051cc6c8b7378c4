import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { Deferred, eventually } from '../support/time.js';
import { useRedis, useShared } from '../support/fixtures.js';
import { Relay } from '../support/proxies.js';
import { useClients } from './support/clients.js';
import { RECIPES } from './support/redis-stage.js';

const server = useRedis();
const { connected } = useClients('bad');

describe('A lock client on Redis rejects', () => {
  const lazy = { lazyConnect: true };
  const node = { host: '127.0.0.1', port: 1 };

  it.each<[string, RedisLockOptions, option: string]>([
    ['no server', {}, 'connect'],
    ['two servers', { connect: 'redis://:secret@a', client: new Redis(lazy) }, 'connect'],
    ['an address without a scheme', { connect: 'user:secret@localhost' }, 'connect'],
    ['no text as an address', { connect: 6379 as never }, 'connect'],
    ['null as an address', { connect: null as never }, 'connect'],
    ['something else as a client', { client: {} as never }, 'client'],
    ['null as a client', { client: null as never }, 'client'],
    ['a cluster without nodes', { cluster: { nodes: [] } }, 'cluster'],
    ['null as a cluster', { cluster: null as never }, 'cluster'],
    ['a client with a prefix', { client: new Redis({ ...lazy, keyPrefix: 'a:' }) }, 'keyPrefix'],
    ['a prefix of ioredis', { connect: { ...node, keyPrefix: 'a:' } }, 'keyPrefix'],
    [
      'a cluster with a prefix',
      { client: new Cluster([node], { ...lazy, redisOptions: { keyPrefix: 'a:' } }) },
      'keyPrefix',
    ],
    [
      'a prefix of a cluster',
      { cluster: { nodes: [node], options: { keyPrefix: 'a:' } } },
      'keyPrefix',
    ],
    [
      'a client that forgets commands',
      { client: new Redis({ ...lazy, autoResendUnfulfilledCommands: false }) },
      'autoResendUnfulfilledCommands',
    ],
  ])('%s', async (_, options, option) => {
    const refusal = await createRedisLockClient('bad', options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(refusal).toMatchObject({ option, client: 'bad' });
    expect(String(refusal)).not.toContain('secret');
  });

  it.each<[keyof RedisLockOptions, ...values: unknown[]]>([
    ['connectTimeout', 0, -1, NaN, Infinity, 2 ** 31, '5'],
    ['watchdogTimeout', 0, 99, 100.5, NaN, Infinity, 2 ** 31, '30000'],
    ['fairLockWaitTimeout', 0, -1, 1_500.5, 0.5, NaN, Infinity, 2 ** 31],
    ['semaphoreTimeToLive', 0, 99, 100.5, NaN, Infinity, 2 ** 31, '1000'],
    ['maxWaiters', 0, -1, 1.5, NaN],
    ['prefix', 5, null],
    ['wait', 0, -1, NaN, Infinity, 'for ever'],
    ['shardedSubscriptionMode', 'AUTO', true, null],
  ])('a bad `%s`', async (option, ...values) => {
    for (const value of values)
      await expect(
        createRedisLockClient('bad', { connect: server().url, [option]: value }),
      ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option, value, client: 'bad' });
  });

  it.each([
    ['replicas.atLeast', {}],
    ['replicas.atLeast', null],
    ['replicas.atLeast', { atLeast: 0 }],
    ['replicas.atLeast', { atLeast: 1.5 }],
    ['replicas.timeout', { atLeast: 1, timeout: 0 }],
    ['replicas.otherwise', { atLeast: 1, otherwise: 'ignore' }],
  ])('a bad `%s` (%j)', async (option, replicas) => {
    await expect(
      createRedisLockClient('bad', { connect: server().url, replicas: replicas as never }),
    ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option });
  });
});

describe.each(Object.entries(RECIPES))('A %s on Redis', (_, lock) => {
  let client: RedisLockClient;

  beforeEach(async () => {
    client = await connected({ connect: server().url });
  });

  it.each([0, 99, -1, 100.5, NaN, Infinity, 2 ** 31, '1000', null])(
    'rejects a lease of %p',
    async (lease) => {
      const options = { lease: lease as number };
      const refusal = { code: 'LOCK_OPTIONS', option: 'lease', value: lease, key: 'lease' };
      const refusing = lock(client, 'lease');
      await expect(refusing.acquire(options)).rejects.toMatchObject(refusal);
      await expect(refusing.tryAcquire(options)).rejects.toMatchObject(refusal);
      await expect(refusing.using(async () => {}, options)).rejects.toMatchObject(refusal);
    },
  );

  it.each([0, -1, NaN, Infinity, '5'])('rejects a maxHold of %p', async (maxHold) => {
    await expect(
      lock(client, 'maxHold').acquire({ maxHold: maxHold as number }),
    ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'maxHold', value: maxHold });
  });

  it.each([undefined, null, 5, '', 'a\0b', 'a\ud800', 'ä'.repeat(257)])(
    'rejects %p as a key',
    (key) => {
      expect(() => lock(client, key as string)).toThrow(LockKeyError);
    },
  );
});

describe('A lease on a Redis that is far away', () => {
  const relay = useShared(() => Relay.start(server(), 60)); // 120 ms for a round trip

  it.each(Object.entries(RECIPES))(
    'has to be longer than three round trips (%s)',
    async (key, lock) => {
      const client = await connected({ connect: { host: relay().host, port: relay().port } });
      const refusal = { code: 'LOCK_OPTIONS', option: 'lease', key };
      await expect(lock(client, key).acquire({ lease: 300 })).rejects.toMatchObject(refusal);
      await expect(lock(client, key).tryAcquire({ lease: 300 })).rejects.toThrow('round trips');
      const lease = await lock(client, key).acquire({ lease: 20_000 });
      expect(lease.isHeld).toBe(true);
    },
  );

  it('may be short when only one answer was late', async () => {
    const user = server().client();
    await user.ping();
    await server().command('client', 'pause', 400);
    const client = await connected({ client: user }); // its first command is answered after the pause
    const lease = await client.mutex('near').acquire({ lease: 300 });
    await lease.release();
  });
});

const KEY = 'orders';

/** How foreign programs write to the key. */
const TYPES: Record<string, [string, ...(string | number)[]]> = {
  string: ['set', KEY, 'theirs'],
  list: ['rpush', KEY, 'theirs'],
  set: ['sadd', KEY, 'theirs'],
  'sorted set': ['zadd', KEY, 1, 'theirs'],
  stream: ['xadd', KEY, '1-1', 'field', 'theirs'],
};

const CASES = Object.keys(TYPES).flatMap((type) =>
  Object.keys(RECIPES).map((recipe) => ({ type, recipe })),
);

describe('A key that is used for something else', () => {
  let client: RedisLockClient;
  let warn: jest.SpiedFunction<typeof process.emitWarning>;

  beforeEach(async () => {
    await server().command('FLUSHALL');
    warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    client = await connected({ connect: server().url });
  });
  afterEach(() => warn.mockRestore());

  it.each(CASES)(
    'makes a $recipe reject at once where it is a $type, and is left alone',
    async (one) => {
      const [command, ...operands] = TYPES[one.type]!;
      await server().command(command, ...operands);
      const before = await server().command('dump', KEY);
      const lock = RECIPES[one.recipe]!(client, KEY);

      for (const ask of [() => lock.acquire(), () => lock.tryAcquire()]) {
        const refusal = await ask().catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(LockKeyError);
        expect(refusal).toMatchObject({ key: KEY, client: 'bad' });
        expect(String(refusal)).toContain('something other than a lock');
      }
      await client.close(); // its background work is done then
      expect(await server().command('keys', '*')).toEqual([KEY]);
      expect(await server().command('dump', KEY)).toEqual(before);
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it('keeps a mutex waiting where it is a hash, as a foreign lock would', async () => {
    await server().command('hset', KEY, 'field', 'theirs');
    expect(await client.mutex(KEY).tryAcquire()).toBeUndefined();
    await expect(client.mutex(KEY).acquire({ wait: 50 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    expect(await server().command('hget', KEY, 'field')).toBe('theirs');
  });

  it.each(['readLock', 'writeLock'] as const)(
    'makes a %s reject where it is a hash',
    async (half) => {
      await server().command('hset', KEY, 'field', 'theirs');
      await expect(client.readWriteLock(KEY)[half]().acquire()).rejects.toBeInstanceOf(
        LockKeyError,
      );
      expect(await server().command('hget', KEY, 'field')).toBe('theirs');
    },
  );

  it('makes the holder lose the lock when it replaces a held lock', async () => {
    const short = await connected({ connect: server().url, watchdogTimeout: 300 });
    const lease = await short.mutex(KEY).acquire();
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    await server().command('set', KEY, 'theirs');
    await lost;
    await lease.release();
    expect(await server().command('get', KEY)).toBe('theirs');
    expect(warn).not.toHaveBeenCalled();
  });

  it('keeps nothing locked when it replaces the token counter', async () => {
    await server().command('set', `redisson_lock_token:{${KEY}}`, 'theirs');
    const lock = client.mutex(KEY, { fenced: true });
    await expect(lock.acquire()).rejects.toMatchObject({ code: 'LOCK_CONNECTION', key: KEY });
    expect(await lock.isLocked()).toBe(false);
  });
});

const [, command = ''] = /^```acl\n(.*)\n```$/m.exec(readFileSync('docs/redis.md', 'utf8')) ?? [];

describe('The permissions listed in the documentation', () => {
  let first: RedisLockClient;
  let second: RedisLockClient;

  beforeEach(async () => {
    await server().command('FLUSHALL');
    const [name = '', ...args] = command.split(' ');
    await server().command(name, ...args);
    [first, second] = await Promise.all([permitted(), permitted()]);
  });

  it.each([
    ['mutex', (locks: RedisLockClient) => locks.mutex('mutex')],
    ['fair mutex', (locks: RedisLockClient) => locks.mutex('fair', { fair: true })],
    ['fenced mutex', (locks: RedisLockClient) => locks.mutex('fenced', { fenced: true })],
    ['semaphore mutex', (locks: RedisLockClient) => locks.semaphoreMutex('semaphore')],
    ['semaphore', (locks: RedisLockClient) => locks.semaphore('permits', { permits: 1 })],
    [
      'fair semaphore',
      (locks: RedisLockClient) => locks.semaphore('fair permits', { permits: 1, fair: true }),
    ],
    ['read lock', (locks: RedisLockClient) => preferring(locks, 'reads').readLock()],
    ['write lock', (locks: RedisLockClient) => preferring(locks, 'writes').writeLock()],
  ] as const)('are enough for a %s with a waiter', async (_, lockOf) => {
    const lock = lockOf(first);
    const holder = await lock.acquire();
    const waiting = isShared(lock.key) ? preferring(second, 'reads').writeLock() : lockOf(second);
    const waiter = waiting.acquire();
    await eventually('it is listened to', async () => (await channels()) === 1);
    expect(await holder.fencingToken()).toBe(1n);
    await holder.extend(1_000);
    await holder.release();
    await (await waiter).release();
  });

  it('are enough for several mutexes at once, and for a spin lock', async () => {
    await using both = await first.multiLock([first.mutex('a'), first.mutex('b')]).acquire();
    await using spin = await first.spinLock('spin').acquire();
    expect([both.isHeld, spin.isHeld]).toEqual([true, true]);
  });

  it('are enough for a plain semaphore and a latch, each with a waiter', async () => {
    const [semaphore, latch] = [first.plainSemaphore('plain'), first.countDownLatch('latch')];
    expect(await semaphore.trySetPermits(1)).toBe(true);
    expect(await latch.trySetCount(1)).toBe(true);
    await semaphore.acquire();
    const waiters = [
      second.plainSemaphore('plain').acquire(),
      second.countDownLatch('latch').await(),
    ];
    await eventually('both are listened to', async () => (await channels()) === 2);
    await semaphore.release();
    await latch.countDown();
    await Promise.all(waiters);
  });

  it('are enough for an operator', async () => {
    const mutex = first.mutex('mutex');
    await mutex.acquire();
    expect(await mutex.holders()).toHaveLength(1);
    expect(await mutex.isLocked()).toBe(true);
    expect(await mutex.remainTimeToLive()).toBeGreaterThan(0);
    expect(await mutex.forceUnlock()).toBe(true);
    const readWriteLock = first.readWriteLock('reads');
    await readWriteLock.readLock().acquire();
    expect(await readWriteLock.holders()).toHaveLength(1);
    expect(await readWriteLock.forceUnlock('read')).toBe(true);
  });

  it('are enough to name a deadlock of two clients', async () => {
    const named = [first, second].map(
      (locks) => new Promise((resolve) => locks.on('deadlock', resolve)),
    );
    const stop = new AbortController();
    const inside = [new Deferred(), new Deferred()] as const;
    const nest = (locks: RedisLockClient, outer: string, inner: string, i: 0 | 1) =>
      locks.mutex(outer).using(async () => {
        inside[i].resolve();
        await Promise.all(inside.map(({ promise }) => promise));
        await locks.mutex(inner).using(() => {}, { signal: stop.signal });
      });
    const calls = Promise.allSettled([nest(first, 'a', 'b', 0), nest(second, 'b', 'a', 1)]);
    await Promise.race(named);
    stop.abort();
    await calls;
  });

  it('are needed to ask for deadlocks, but for nothing else, and no acquire notices', async () => {
    await Promise.all([first.close(), second.close()]);
    const [name = '', ...args] = command.split(' ').filter((word) => !word.includes(':deadlocks:'));
    await server().command('ACL', 'DELUSER', 'locks');
    await server().command(name, ...args);
    [first, second] = await Promise.all([permitted(), permitted()]);
    const warn = jest.spyOn(process, 'emitWarning');
    const refusedTo = async () => JSON.stringify(await server().command('ACL', 'LOG'));
    await server().command('ACL', 'LOG', 'RESET');
    const holder = await first.mutex('inner').acquire();
    const nested = second.mutex('outer').using(() => second.mutex('inner').using(() => 'granted'));
    await eventually('it was refused', async () => (await refusedTo()).includes(':deadlocks:'));
    await holder.release();
    expect(await nested).toBe('granted');
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('give no access without the prefix', async () => {
    const stranger = await permitted('');
    await expect(stranger.mutex('mutex').acquire()).rejects.toThrow('NOPERM');
  });
});

const preferring = (locks: RedisLockClient, key: string) =>
  locks.readWriteLock(key, { preferWriters: true });

const isShared = (key: string) => key === 'reads';

function permitted(prefix = 'shop:'): Promise<RedisLockClient> {
  const { host, port } = server();
  const connect = { host, port, username: 'locks', password: 'secret' };
  return connected({ connect, prefix });
}

async function channels(): Promise<number> {
  return ((await server().command('PUBSUB', 'CHANNELS')) as string[]).length;
}
