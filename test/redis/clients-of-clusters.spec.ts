import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, type ClusterOptions } from 'ioredis';
import { Cluster as Cluster5, type ClusterOptions as Cluster5Options } from 'ioredis5';
import { LockKeyError } from '../../lib/core/errors/index.js';
import type { RedisClient } from '../../lib/redis/connection/ioredis.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RECIPES } from './recipes.js';

const AT_ONCE = { disconnectTimeout: 0 };

const SETTINGS: Record<string, ClusterOptions> = {
  'default settings': {},
  'sharded subscribers': { shardedSubscribers: true },
  'reads from replicas': { scaleReads: 'slave' },
  'automatic pipelines': { enableAutoPipelining: true },
  'no offline queue': { enableOfflineQueue: false },
  'no connection before it is used': { lazyConnect: true },
  'no automatic subscriptions': { redisOptions: { autoResubscribe: false } },
  'numbers as texts': { redisOptions: { stringNumbers: true } },
};

let cluster: RedisCluster;
let ours: RedisLockOptions;
const open = new Set<RedisLockClient>();
const users = new Set<RedisClient>();

beforeAll(async () => {
  cluster = await RedisCluster.start();
  ours = { cluster: { nodes: cluster.nodes, options: { redisOptions: AT_ONCE } } };
}, 60_000);
afterEach(async () => {
  await Promise.all([...open].map((client) => client.close()));
  for (const user of users) user.disconnect();
  open.clear();
  users.clear();
});
afterAll(() => cluster.stop());

function user(make: typeof Cluster | typeof Cluster5, options: ClusterOptions): RedisClient {
  const redisOptions = { ...AT_ONCE, ...options.redisOptions };
  const made =
    make === Cluster
      ? new Cluster(cluster.nodes, { ...options, redisOptions })
      : new Cluster5(cluster.nodes, { ...options, redisOptions } as Cluster5Options);
  made.on('error', () => {}); // commands report it; without a listener each one is printed
  users.add(made);
  return made;
}

async function connected(options: RedisLockOptions): Promise<RedisLockClient> {
  const client = await createRedisLockClient('cluster', options);
  open.add(client);
  await client.connect();
  return client;
}

describe.each([
  ['ioredis 6', Cluster],
  ['ioredis 5', Cluster5],
])('A Cluster of %s', (version, make) => {
  it.each(Object.entries(SETTINGS))(
    'with %s provides exclusion by locks of all kinds, and is woken',
    async (name, options) => {
      const client = user(make, options);
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
      const client = user(make, {}) as Cluster;
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
    const client = user(make, { scaleReads: 'slave', slotsRefreshTimeout: 5_000 });
    const lock = (await connected({ client })).mutex(`${version} newest`);
    const replica = await cluster.replicaOf(await cluster.masterOf(lock.key));
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
    const client = await connected(ours);
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
    const client = await connected(ours);
    for (const key of ['{order}:1', 'order:{1}', '{a}{b}', '{a{b}', 'order:{1}:}', '{ }']) {
      const lease = await blocker(client, key).acquire();
      expect(await lease.fencingToken()).toBeGreaterThan(0n);
      expect(await lock(client, key).tryAcquire()).toBeUndefined();
      await lease.release();
    }
  });

  it('is rejected where its names would lie in different slots', async () => {
    const client = await connected(ours);
    for (const key of ['{', '}', 'a{b', 'a}b', '{}', 'a{}b', '{}{b}', '}{', 'a{b:1', '{}a']) {
      expect(() => lock(client, key)).toThrow(LockKeyError);
      expect(() => lock(client, key)).toThrow(/different slots.*such as \{order\}:1/);
    }
  });

  it('is checked together with the prefix', async () => {
    const tagged = await connected({ ...ours, prefix: '{shop}:' });
    await using lease = await lock(tagged, 'a{b').acquire();
    expect(lease.key).toBe('a{b');
    const master = await cluster.masterOf('{shop}');
    expect(await master.command('exists', '{shop}:a{b')).toBe(1);

    const odd = await connected({ ...ours, prefix: '{' });
    expect(() => lock(odd, 'a')).toThrow(LockKeyError);
    expect(lock(odd, 'a}')).toBeDefined();
  });
});
