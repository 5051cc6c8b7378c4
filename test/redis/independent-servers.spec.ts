import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import {
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { MultiLock } from '../../lib/core/multi-lock.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { asOwn, IndependentRedisServers, KEPT, type RedisServer } from '../support/redis-server.js';
import { earliest, eventually } from '../support/time.js';
import { useCleanup, useShared } from '../support/fixtures.js';
import { AT_ONCE, useClients } from './support/clients.js';
import { onRedLock } from './support/red-lock-stage.js';

describe('A client of five servers', () => {
  const stage = onRedLock();

  it('connects while a minority is down, and uses it once it is up', async () => {
    const { key, servers } = stage();
    await servers.kill(1, 3);
    const client = await stage().client();
    const lease = await client.mutex(key).acquire();
    expect(await servers.having(key)).toBe(3);
    await lease.release();
    await servers.restore();
    await eventually('a lock is on all of them', async () => {
      const next = await client.mutex(key).acquire();
      const having = await servers.having(key);
      await next.release();
      return having === 5;
    });
  });

  it('gives up within its connectTimeout while a majority is down, and leaves nothing open', async () => {
    const before = openHandles();
    await stage().servers.kill(0, 1, 2);
    const client = await stage().unconnected({ connectTimeout: 500 });
    const startedAt = performance.now();
    const refusal = await client.connect().catch((error: unknown) => error);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(String(refusal)).toMatch(
      /could not connect to 3 of its 5 Redis servers within 500 ms \(server \d of 5: .*ECONNREFUSED.*\)\. Check `nodes`/,
    );
    await noMoreHandlesThan(before);
  });

  it('is closed when it has given up, for those that wait, those that come, and a second connect', async () => {
    await stage().servers.kill(0, 1, 2);
    const client = await stage().unconnected({ connectTimeout: 500 });
    const mutex = client.mutex(stage().key);
    const closed = { code: 'LOCK_CLIENT_CLOSED' };
    const waiting = expect(mutex.acquire()).rejects.toMatchObject(closed);
    await expect(client.connect()).rejects.toBeInstanceOf(LockConnectionError);
    await waiting;
    await expect(mutex.acquire()).rejects.toMatchObject(closed);
    await expect(client.occurrenceMark('job').raise(1)).rejects.toMatchObject(closed);
    await expect(client.connect()).rejects.toMatchObject(closed);
  });

  it('is connected once, however often connect is called', async () => {
    const before = openHandles();
    const client = await stage().unconnected();
    await Promise.all([client.connect(), client.connect()]);
    await client.connect();
    await (await client.mutex(stage().key).acquire()).release();
    await client.close();
    await client.close();
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
    await noMoreHandlesThan(before);
  });

  it('can be closed while it connects', async () => {
    const before = openHandles();
    await stage().servers.kill(0, 1, 2);
    const client = await stage().unconnected();
    const connecting = expect(client.connect()).rejects.toMatchObject({
      code: 'LOCK_CLIENT_CLOSED',
    });
    await Promise.all([client.close(), connecting]);
    await noMoreHandlesThan(before);
  });

  it('keeps an acquire waiting until it is connected', async () => {
    const client = await stage().unconnected();
    const waiting = client.mutex(stage().key).acquire({ wait: 20_000 });
    await client.connect();
    expect(await waiting).toMatchObject({ isHeld: true });
  });

  it('accepts clients of a user, and never closes them', async () => {
    const users = stage().servers.all.map((server) => server.client());
    await Promise.all(users.map((user) => user.ping()));
    const listeners = () => users.map((user) => user.listenerCount('ready'));
    const before = listeners();
    const client = await stage().client({ nodes: users });
    const lease = await client.mutex(stage().key).acquire();
    await client.close();
    expect(lease.isHeld).toBe(false);
    expect(users.map(({ status }) => status)).toEqual(users.map(() => 'ready'));
    expect(listeners()).toEqual(before);
    expect(await Promise.all(users.map((user) => user.exists(stage().key)))).toEqual([
      0, 0, 0, 0, 0,
    ]);
    for (const user of users) user.disconnect();
  });

  it('continues when a minority of the connections has ended for good, and rejects when it is a majority', async () => {
    const users = stage().servers.all.map((server) => server.client());
    const client = await stage().client({ nodes: users.map(asOwn) });
    const mutex = client.mutex(stage().key);
    for (const user of users.slice(0, 2)) user.disconnect();
    await (await mutex.acquire({ wait: 5_000 })).release();
    for (const user of users) user.disconnect();
    await expect(mutex.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.acquire({ wait: 500 })).rejects.toBeInstanceOf(LockConnectionError);
  });

  it('reports what a majority refuses, and tolerates a minority that does', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    for (const i of [0, 1]) await servers.all[i]!.command('SET', key, 'no lock');
    await (await client.mutex(key).acquire({ wait: 5_000 })).release();
    await servers.all[2]!.command('SET', key, 'no lock');
    const refusal = { code: 'LOCK_KEY', key };
    await expect(client.mutex(key).tryAcquire()).rejects.toMatchObject(refusal);
    await expect(client.mutex(key).acquire()).rejects.toMatchObject(refusal);
  });
});

const lazy = { lazyConnect: true };
const user = new Redis({ ...lazy, port: 1 });
const [a, b, c] = ['redis://:secret@a', 'redis://b:7000', 'redis://c:7001'] as const;

describe('A client of several servers rejects', () => {
  it.each<[string, RedisLockOptions, option: string, says: RegExp]>([
    ['no server', { nodes: [] }, 'nodes', /at least 3 servers, and an odd number/],
    ['one', { nodes: [a] }, 'nodes', /at least 3 servers/],
    ['two', { nodes: [a, b] }, 'nodes', /at least 3 servers/],
    ['something else', { nodes: 'redis://a' as never }, 'nodes', /at least 3 servers/],
    ['a hole', { nodes: [a, undefined as never, c] }, 'nodes', /for each server a URL/],
    ['null', { nodes: [a, null as never, c] }, 'nodes', /for each server a URL/],
    ['a number', { nodes: [a, 6379 as never, c] }, 'nodes', /a URL such as/],
    ['an address without a scheme', { nodes: [a, 'b:7000', c] }, 'nodes', /a URL such as/],
    ['the same address twice', { nodes: [a, b, 'redis://a:6379/1'] }, 'nodes', /each of them once/],
    [
      'the same address in two forms',
      { nodes: [a, b, { host: 'b', port: 7_000 }] },
      'nodes',
      /each of them once/,
    ],
    ['the same ioredis client twice', { nodes: [user, b, user] }, 'nodes', /each of them once/],
    [
      'a cluster among them',
      { nodes: [a, b, new Cluster([{ host: 'c', port: 1 }], lazy)] },
      'nodes',
      /independent servers; a cluster is one client of its own/,
    ],
    ['a client besides', { nodes: [a, b, c], client: user }, 'nodes', /one of/],
    ['an address besides', { nodes: [a, b, c], connect: 'redis://d' }, 'nodes', /one of/],
    ['a time for nodes, and none', { connect: a, nodeTimeout: 50 }, 'nodeTimeout', /with `nodes`/],
    [
      'a client with a prefix',
      { nodes: [a, b, new Redis({ ...lazy, keyPrefix: 'a:' })] },
      'nodes',
      /`prefix` to the lock client/,
    ],
  ])('%s', async (_, options, option, says) => {
    const refusal = await createRedLockClient('bad', options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(refusal).toMatchObject({ option, client: 'bad' });
    expect(String(refusal)).toMatch(says);
    expect(String(refusal)).not.toContain('secret');
  });

  it.each([0, 0.5, -1, NaN, Infinity, '5', null, 10_001])('a nodeTimeout of %p', async (value) => {
    const options = { nodes: [a, b, c], nodeTimeout: value as number };
    await expect(createRedLockClient('bad', options)).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option: 'nodeTimeout',
      value,
    });
  });
});

describe('A client of running servers', () => {
  const servers = useShared(() => IndependentRedisServers.start(4));
  const cleanup = useCleanup();
  const clientOf = async (nodes: RedisLockOptions['nodes'] = servers().nodes.slice(1)) =>
    cleanup(await createRedLockClient('mutexes', { nodes }), (client) => client.close());

  it('warns of an even number', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    await clientOf(servers().nodes);
    expect(warned.mock.calls).toEqual([[expect.stringMatching(/"mutexes" has 4 .* odd number/)]]);
    warned.mockClear();
    await clientOf();
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it('rejects a server that is given under two names when it connects', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const [first, , third] = servers().all;
    const nodes = [first!.url, third!.url, `redis://localhost:${first!.port}`];
    const client = await clientOf(nodes);
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'nodes' });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('the same Redis server twice'));
    warned.mockRestore();
  });

  it('has mutexes, and rejects a request for any other kind', async () => {
    const client = await clientOf();
    await client.connect();
    for (const recipe of ['readWriteLock', 'semaphore'] as const)
      expect(() => client[recipe]('key')).toThrow(/on independent servers there are mutexes only/);
    expect(() => client.mutex('')).toThrow(expect.objectContaining({ code: 'LOCK_KEY' }));
    client.mutex('one kind');
    expect(() => client.semaphoreMutex('one kind')).toThrow(/uses one kind for a mutex/);
  });

  it.each([99, 899, 100.5, NaN, Infinity, '5000'])('rejects a lease of %p', async (lease) => {
    const client = await clientOf();
    const options = { lease: lease as number };
    const refusal = { code: 'LOCK_OPTIONS', option: 'lease', value: lease, key: 'key' };
    await expect(client.mutex('key').acquire(options)).rejects.toMatchObject(refusal);
    await expect(client.mutex('key').tryAcquire(options)).rejects.toMatchObject(refusal);
  });
});

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
  const fleet = useShared(() => IndependentRedisServers.start(3));
  const servers = () => fleet().all;
  const { connected } = useClients();

  afterEach(async () => {
    for (const server of servers()) expect(await locksOn(server)).toEqual([]);
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
    await contendedOnFirst();
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
    for (const server of servers()) expect(await server.command('PTTL', KEY)).toBeGreaterThan(0);
    await lease.release();
  });

  it('has one deadline for all its locks, and leaves nothing behind', async () => {
    const [mine, theirs] = [await connect(), await connect()];
    const first = await theirs[0]!.mutex(KEY).acquire();
    const last = await theirs[2]!.mutex(KEY).acquire();
    const startedAt = performance.now();
    const late = multiOf(mine).acquire({ wait: 600 });
    late.catch(() => {});
    await contendedOnFirst();
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
    await servers()[2]!.kill();
    try {
      const late = multiOf(clients).acquire({ wait: 400 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      for (const server of servers().slice(0, 2))
        await eventually('what was taken is released', async () => {
          const keys = await locksOn(server);
          return keys.length === 0;
        });
    } finally {
      await servers()[2]!.restart();
    }
    await using lease = await multiOf(clients).acquire({ wait: 20_000 });
    expect(lease.isHeld).toBe(true);
  });

  /** A client of each server, under the names that they have in every process. */
  const connect = (options: RedisLockOptions = {}): Promise<Clients> =>
    Promise.all(
      servers().map(({ host, port }, n) =>
        connected({ connect: { host, port, ...AT_ONCE }, ...options }, `server ${n}`),
      ),
    );

  function multiOf(clients: Clients): MultiLock {
    return clients[0]!.multiLock(clients.map((client) => client.mutex(KEY)));
  }

  /** Resolves when a client waits for the lock on the first server. */
  async function contendedOnFirst(): Promise<void> {
    const [server] = servers();
    await eventually('it is waited for', async () => {
      const channel = `redisson_lock__channel:{${KEY}}`;
      const [, there] = (await server!.command('PUBSUB', 'NUMSUB', channel)) as [string, number];
      return there > 0;
    });
  }
});
