import type { Cluster as IoCluster, ClusterOptions, Redis as IoRedis, RedisOptions } from 'ioredis';
import { isRedisCluster, type RedisClient } from '../../lib/redis/connection/ioredis.js';
import { type NodeRedis, serverOf } from '../../lib/redis/node-redis/node-redis.js';
import { NodeRedisCluster } from '../../lib/redis/node-redis/node-redis-cluster.js';
import { NodeRedisNode } from '../../lib/redis/node-redis/node-redis-node.js';
import { NodeRedisSentinels } from '../../lib/redis/node-redis/node-redis-sentinels.js';

/**
 * Where the clients come from that tests hand over as users do: `ioredis`, or what `REDIS_CLIENT` in the environment names.
 * With `redis` (node-redis) or `redis5` the clients are of ioredis, and their duplicates, which carry locks, of that package.
 */
const name = process.env.REDIS_CLIENT || 'ioredis';
const isNodeRedis = /^redis5?$/.test(name);

interface Package {
  readonly Cluster: typeof IoCluster;
  readonly Redis: typeof IoRedis;
}

const ioredis = (await import(isNodeRedis ? 'ioredis' : name)) as Package;

/** Longest silence of a connection, unless a test sets another one, in ms. */
const SILENCE = 30_000;

/** The options of ioredis as node-redis takes them. */
function asNodeRedis(options: RedisOptions): object {
  const { host, port, path, db, username, password, tls, connectionName } = options;
  return {
    name: connectionName,
    socket: path ? { path } : { host, port, ...(tls && { tls: true, ...tls }) },
    database: db,
    username,
    password,
  };
}

/** A connection to the same servers by node-redis, as a lock client makes it. */
export function byNodeRedis(
  redis: NodeRedis,
  client: RedisClient,
  silence: number = SILENCE,
): RedisClient {
  if (isRedisCluster(client)) {
    const { redisOptions = {}, natMap } = client.options as ClusterOptions;
    const startupNodes = Reflect.get(client, 'startupNodes') as { host: string; port: number }[];
    const settings = {
      rootNodes: startupNodes.map(({ host, port }) => ({ socket: { host, port } })),
      defaults: asNodeRedis(redisOptions),
      nodeAddressMap: natMap as Record<string, { host: string; port: number }>,
    };
    return new NodeRedisCluster(redis, settings, silence);
  }
  const options = client.options as RedisOptions;
  const { sentinels, name: group } = options;
  if (!sentinels)
    return new NodeRedisNode(serverOf(redis.createClient(asNodeRedis(options))), silence);
  const sentinelRootNodes = sentinels as { host: string; port: number }[];
  const nodeClientOptions = asNodeRedis({ ...options, host: undefined, port: undefined });
  const settings = { name: group!, sentinelRootNodes, nodeClientOptions };
  return new NodeRedisNode(new NodeRedisSentinels(redis, settings), silence);
}

const { Redis, Cluster } = isNodeRedis ? await templates() : ioredis;

async function templates(): Promise<Package> {
  const redis = (await import(name)) as NodeRedis;
  const duplicate = function (this: RedisClient, ...overrides: object[]): RedisClient {
    const { socketTimeout, redisOptions } = overrides.at(-1) as {
      socketTimeout?: number;
      redisOptions?: { socketTimeout?: number };
    };
    return byNodeRedis(redis, this, socketTimeout ?? redisOptions?.socketTimeout);
  };
  class Redis extends ioredis.Redis {}
  class Cluster extends ioredis.Cluster {}
  for (const each of [Redis, Cluster]) Object.assign(each.prototype, { duplicate });
  return { Redis, Cluster } as unknown as Package; // their constructors are generic
}

/** The connection that a lock client would make of the user's client, which is given up. */
export function duplicateOf(client: IoRedis | IoCluster): RedisClient {
  if (!isNodeRedis) return client;
  const own = (client as unknown as { duplicate(...overrides: object[]): RedisClient }).duplicate(
    {},
  );
  client.disconnect();
  return own;
}

export { Cluster, Redis };
