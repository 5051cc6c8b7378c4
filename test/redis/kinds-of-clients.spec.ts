import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import {
  Cluster as Cluster5,
  type ClusterOptions as Cluster5Options,
  Redis as Redis5,
  type RedisOptions as Redis5Options,
} from 'ioredis5';
import {
  Cluster as ValkeyCluster,
  type ClusterOptions as ValkeyClusterOptions,
  Redis as Valkey,
  type RedisOptions as ValkeyOptions,
} from 'iovalkey';
import { LockConnectionError, LockKeyError } from '../../lib/core/errors/index.js';
import type { RedisClient } from '../../lib/redis/connection/ioredis.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { calm, eventually } from '../support/time.js';
import { useCleanup, useRedis, useRedisCluster } from '../support/fixtures.js';
import { KEPT, RedisServer } from '../support/redis-server.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { tier } from '../support/tier.js';
import { AT_ONCE, listened, useClients } from './support/clients.js';
import { RECIPES } from './support/redis-stage.js';

const CLUSTER_SETTINGS: Record<string, ClusterOptions> = {
  'default settings': {},
  'sharded subscribers': { shardedSubscribers: true },
  'reads from replicas': { scaleReads: 'slave' },
  'automatic pipelines': { enableAutoPipelining: true },
  'no offline queue': { enableOfflineQueue: false },
  'no connection before it is used': { lazyConnect: true },
  'no automatic subscriptions': { redisOptions: { autoResubscribe: false } },
  'numbers as texts': { redisOptions: { stringNumbers: true } },
};

const cluster = useRedisCluster();
const ours = (): RedisLockOptions => ({
  cluster: { nodes: cluster().nodes, options: { redisOptions: AT_ONCE } },
});
const { connected } = useClients('cluster');
const cleanup = useCleanup();

type MakeCluster = (
  nodes: { host: string; port: number }[],
  options: ClusterOptions,
) => RedisClient & { disconnect(): void };

function userOf(make: MakeCluster, options: ClusterOptions): RedisClient {
  const redisOptions = { ...AT_ONCE, ...options.redisOptions };
  const user = make(cluster().nodes, { ...options, redisOptions });
  user.on('error', () => {}); // commands report it; without a listener each one is printed
  return cleanup(user, () => user.disconnect());
}

const MAKE_CLUSTER: [string, MakeCluster][] = [
  ['ioredis 6', (nodes, options) => new Cluster(nodes, options)],
  ['ioredis 5', (nodes, options) => new Cluster5(nodes, options as Cluster5Options)],
  ['iovalkey', (nodes, options) => new ValkeyCluster(nodes, options as ValkeyClusterOptions)],
];

describe.each(MAKE_CLUSTER)('A Cluster of %s', (version, make) => {
  it.each(Object.entries(CLUSTER_SETTINGS))(
    'with %s provides exclusion by locks of all kinds, and is woken',
    async (name, options) => {
      const client = userOf(make, options);
      const [mine, theirs] = [
        await connected({ client }),
        await connected({ client, watchdogTimeout: 3_000 }),
      ];
      await Promise.all(
        Object.entries(RECIPES).map(async ([recipe, lock]) => {
          const key = `${version} ${name} ${recipe}`;
          const lease = await lock(theirs, key).acquire();
          const rival = recipe === 'read lock' ? RECIPES['write lock']! : lock;
          expect(await rival(mine, key).tryAcquire()).toBeUndefined();
          const waiting = rival(mine, key).acquire({ wait: 10_000 });
          expect(await lease.fencingToken()).toBe(1n);
          await lease.release();
          const next = await waiting;
          expect(await next.fencingToken()).toBe(2n);
          await next.release();
        }),
      );
    },
  );

  it.each(['disconnect', 'quit'] as const)(
    'leaves the locks alone when its user closes it (%s)',
    async (how) => {
      const client = userOf(make, {}) as Cluster;
      const mutex = (await connected({ client })).mutex(`${version} ${how}`);
      const lease = await mutex.acquire();
      await client[how]();
      await eventually('it is closed', () => ['end', 'close'].includes(client.status));
      const waiting = mutex.acquire({ wait: 20_000 });
      await lease.release();
      await (await waiting).release();
      await expect(connected({ client })).rejects.toThrow(/was already closed/);
    },
  );

  it('is asked for the latest state of a lock, although it reads from replicas', async () => {
    const client = userOf(make, { scaleReads: 'slave', slotsRefreshTimeout: 5_000 });
    const lock = (await connected({ client })).mutex(`${version} newest`);
    const replica = await cluster().replicaOf(await cluster().masterOf(lock.key));
    replica.freeze();
    try {
      const lease = await lock.acquire();
      expect(await lock.isLocked()).toBe(true);
      await lease.release();
      expect(await lock.isLocked()).toBe(false);
    } finally {
      replica.thaw();
    }
  });
});

describe('A client of a cluster of our own', () => {
  it('leaves nothing open', async () => {
    const before = openHandles();
    const client = await connected(ours());
    const lease = await client.mutex('ours').acquire();
    const waiting = expect(client.mutex('ours').acquire()).rejects.toMatchObject({ key: 'ours' });
    await Promise.all([client.close(), waiting]);
    expect(lease.isHeld).toBe(false);
    await noMoreHandlesThan(before);
  });
});

describe.each(Object.entries(RECIPES))('A key with braces of a %s in a cluster', (name, lock) => {
  const blocker = name === 'read lock' ? RECIPES['write lock']! : lock;

  it('is one lock where they are a hash tag', async () => {
    const client = await connected(ours());
    for (const key of ['{order}:1', 'order:{1}', '{a}{b}', '{a{b}', 'order:{1}:}', '{ }']) {
      const lease = await blocker(client, key).acquire();
      expect(await lease.fencingToken()).toBeGreaterThan(0n);
      expect(await lock(client, key).tryAcquire()).toBeUndefined();
      await lease.release();
    }
  });

  it('is rejected where its names would lie in different slots', async () => {
    const client = await connected(ours());
    for (const key of ['{', '}', 'a{b', 'a}b', '{}', 'a{}b', '{}{b}', '}{', 'a{b:1', '{}a']) {
      expect(() => lock(client, key)).toThrow(LockKeyError);
      expect(() => lock(client, key)).toThrow(/different slots.*such as \{order\}:1/);
    }
  });

  it('is checked together with the prefix', async () => {
    const tagged = await connected({ ...ours(), prefix: '{shop}:' });
    await using lease = await lock(tagged, 'a{b').acquire();
    expect(lease.key).toBe('a{b');
    const master = await cluster().masterOf('{shop}');
    expect(await master.command('exists', '{shop}:a{b')).toBe(1);

    const odd = await connected({ ...ours(), prefix: '{' });
    expect(() => lock(odd, 'a')).toThrow(LockKeyError);
    expect(lock(odd, 'a}')).toBeDefined();
  });
});

describe('A client that is not one of a cluster', () => {
  const plain = useClients('plain');
  let client: RedisLockClient;

  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Connects, and resolves to the warnings. */
  async function warningsOf(server: RedisServer): Promise<string[]> {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    client = await plain.made({ connect: server.url });
    await client.connect();
    return warn.mock.calls.map(([warning]) => String(warning));
  }

  describe('at a node of one', () => {
    it('is warned when it connects, and locks of other nodes reject at once with what to do', async () => {
      const owners = await Promise.all(Object.keys(RECIPES).map((key) => cluster().masterOf(key)));
      for (const [i, [key, lock]] of Object.entries(RECIPES).entries()) {
        const other = cluster().servers.find((server) => server !== owners[i])!;
        const warnings = await warningsOf(other);
        expect(warnings).toEqual([expect.stringContaining('node of a Redis Cluster')]);
        for (const how of ['acquire', 'tryAcquire'] as const) {
          const wanted = lock(client, key);
          const error = await wanted[how]().catch((error: unknown) => error);
          expect(error).toBeInstanceOf(LockConnectionError);
          expect(error).toMatchObject({ key, client: 'plain' });
          expect(String(error)).toMatch(/node of a cluster.*MOVED.*`cluster`/);
        }
        await client.close();
        jest.restoreAllMocks();
      }
    });

    it('may use the locks of that node', async () => {
      await warningsOf(await cluster().masterOf('mine'));
      const lease = await client.mutex('mine').acquire();
      await lease.release();
      expect(client.status().health).toBe('up');
    });
  });

  describe('at a server of its own', () => {
    const server = useRedis();

    it('is warned of nothing', async () => {
      expect(await warningsOf(server())).toEqual([]);
    });

    it('is warned of a replica', async () => {
      const replica = await RedisServer.start();
      try {
        await replica.command('REPLICAOF', server().host, server().port);
        await eventually('it serves', async () => (await replica.role()).name === 'replica');
        expect(await warningsOf(replica)).toEqual([expect.stringContaining('a replica')]);
        await client.close();
      } finally {
        await replica.stop();
      }
    });

    it('is not warned where it may not ask', async () => {
      await server().command('ACL', 'SETUSER', 'curt', 'on', '>x', '~*', '&*', '+@all', '-info');
      const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
      const { host, port } = server();
      const connect = { host, port, username: 'curt', password: 'x' };
      client = await plain.made({ connect });
      await client.connect();
      await (await client.mutex('unasked').acquire()).release();
      expect(warn).not.toHaveBeenCalled();
    });
  });
});

type Make = (host: string, port: number) => RedisClient;

const SETTINGS: Record<string, RedisOptions> = {
  'default settings': {},
  'automatic pipelines': { enableAutoPipelining: true },
  'commands that never give up': { maxRetriesPerRequest: null },
  'commands that give up at once': { maxRetriesPerRequest: 0 },
  'no offline queue': { enableOfflineQueue: false },
  'no ready check': { enableReadyCheck: false },
  'no connection before it is used': { lazyConnect: true },
  'a time-out of commands': { commandTimeout: 5_000 },
  'no automatic subscriptions': { autoResubscribe: false },
  'numbers as texts': { stringNumbers: true },
  'another database': { db: 5 },
};
const PROTOCOLS: Record<string, RedisOptions> = {
  RESP2: { protocol: 2 },
  RESP3: { protocol: 3 },
  'the shapes of RESP3': { protocol: 3, replyMapping: 'resp3' },
};

const make6 =
  (options: RedisOptions): Make =>
  (host, port) =>
    new Redis({ host, port, disconnectTimeout: 0, ...options });
const make5 =
  (options: RedisOptions): Make =>
  (host, port) =>
    new Redis5({ host, port, disconnectTimeout: 0, ...options } as Redis5Options);

const makeValkey =
  (options: RedisOptions): Make =>
  (host, port) =>
    new Valkey({ host, port, disconnectTimeout: 0, ...options } as ValkeyOptions);

/** Of the older major and of its fork, the standard tier has those that change when a command is sent. */
const OF_OTHERS = Object.entries(SETTINGS).filter(
  ([name]) => tier === 'long' || /default|automatic|give up|queue/.test(name),
);

const CLIENTS: [string, Make][] = [
  ...Object.entries({ ...SETTINGS, ...PROTOCOLS }).map(([name, options]): [string, Make] => [
    `ioredis 6 with ${name}`,
    make6(options),
  ]),
  ...OF_OTHERS.map(([name, options]): [string, Make] => [`ioredis 5 with ${name}`, make5(options)]),
  ...OF_OTHERS.map(([name, options]): [string, Make] => [
    `iovalkey with ${name}`,
    makeValkey(options),
  ]),
];

const server = useRedis();

describe.each(CLIENTS)('A client of %s', (_, make) => {
  let proxy: RedisProxy;
  let user: RedisClient;
  let mine: RedisLockClient;
  let theirs: RedisLockClient;

  beforeAll(async () => {
    await server().command('FLUSHALL');
    proxy = await RedisProxy.start(server());
    user = make(proxy.host, proxy.port);
    const client = user;
    mine = await createRedisLockClient('mine', { client });
    theirs = await createRedisLockClient('theirs', { client, watchdogTimeout: 900 });
    await Promise.all([mine.connect(), theirs.connect()]);
  });
  afterAll(async () => {
    await Promise.all([mine.close(), theirs.close()]);
    user.disconnect();
    await proxy.stop();
  });
  afterEach(async () => {
    await eventually('no lock is left', async () => {
      const keys = [await user.call('keys', '*')].flat();
      return keys.every((key) => KEPT.test(String(key)));
    });
  });

  const KINDS = {
    'a mutex': (client: RedisLockClient) => client.mutex('mutex'),
    'a fair mutex': (client: RedisLockClient) => client.mutex('fair', { fair: true }),
    'a fenced mutex': (client: RedisLockClient) => client.mutex('fenced', { fenced: true }),
    'a write lock': (client: RedisLockClient) => client.readWriteLock('write').writeLock(),
  };

  it.each(Object.entries(KINDS))('keeps others out with %s, and passes it on', async (_, lock) => {
    const lease = await lock(theirs).acquire();
    expect(await lock(mine).tryAcquire()).toBeUndefined();
    expect(await lease.fencingToken()).toBe(1n);
    await lease.release();
    await using next = await lock(mine).acquire({ wait: 5_000 });
    expect(await next.fencingToken()).toBe(2n);
  });

  it('lets readers in together, and keeps writers out', async () => {
    const lock = theirs.readWriteLock('read');
    await using lease = await lock.readLock().acquire({ method: 'Library.read' });
    await using another = await mine.readWriteLock('read').readLock().acquire();
    expect(await mine.readWriteLock('read').writeLock().tryAcquire()).toBeUndefined();
    const holders = new Map((await lock.holders()).map((holder) => [holder.id, holder]));
    expect([...holders.keys()].sort()).toEqual([lease.holder, another.holder].sort());
    expect(holders.get(lease.holder)).toMatchObject({ mode: 'read', method: 'Library.read' });
  });

  it('reports the holder of a lock, and for how long it is locked', async () => {
    const lock = mine.mutex('told');
    expect([await lock.isLocked(), await lock.remainTimeToLive()]).toEqual([false, -2]);
    await using lease = await theirs.mutex('told').acquire({ lease: 20_000, method: 'Orders.pay' });
    expect([await lock.isLocked(), await lock.holders()]).toMatchObject([
      true,
      [{ id: lease.holder, mode: 'alone', method: 'Orders.pay' }],
    ]);
    expect(await lock.remainTimeToLive()).toBeGreaterThan(10_000);
    expect(await lock.forceUnlock()).toBe(true);
    expect(await lock.forceUnlock()).toBe(false);
  });

  it('renews what it holds', async () => {
    await using lease = await theirs.mutex('renewed').acquire();
    const renewals = () => proxy.commands.filter(isScriptFor('renewed')).length;
    await eventually('it was renewed twice', () => renewals() >= 3); // with the acquire
    expect(lease.isHeld).toBe(true);
    await lease.extend(20_000);
    expect(lease.remaining()).toBeGreaterThan(10_000);
  });

  it('is woken by a message, and sends nothing while it waits', async () => {
    const isFor = isScriptFor('awaited');
    const isOfHolder = (command: readonly string[]) => command.includes('alone'); // it asks for its lease every 300 ms
    const asked = () =>
      proxy.commands.filter((command) => isFor(command) && !isOfHolder(command)).length;
    const lease = await theirs.mutex('awaited').acquire({ lease: 20_000 });
    const waiting = mine.mutex('awaited').acquire({ wait: 10_000 });
    await listened(server(), '{awaited}');
    await calm(asked);
    await lease.release();
    await (await waiting).release();
  });

  it('goes on when its connections break', async () => {
    const held = await mine.mutex('broken').acquire({ lease: 20_000 });
    const waiting = theirs.mutex('broken').acquire({ wait: 20_000 });
    await listened(server(), '{broken}');
    proxy.cut();
    await held.release();
    const lease = await waiting;
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });
});

/** Whether that is a script sent for this lock. */
function isScriptFor(key: string): (command: readonly string[]) => boolean {
  return ([name, ...operands]) => /^evalsha$/i.test(name!) && operands.includes(key);
}
