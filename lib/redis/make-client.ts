import { LockConnectionError, LockOptionsError } from '../core/errors/index.js';
import { NotShown } from '../core/errors/shown-value.js';
import { duplicateOf, isIoRedis, isRedisCluster, type RedisClient } from './connection/ioredis.js';
import { isHostAndPort } from './server-address.js';
import { type IoRedis, isIoRedisPackage, loadDriver, type RedisDriver } from './drivers.js';
import {
  clusterOptionsOf,
  type HostAndPort,
  isNodeRedis,
  type NodeRedis,
  type NodeRedisClusterClient,
  type NodeRedisClusterOptions,
  type NodeRedisSentinelOptions,
  serverOf,
} from './node-redis/node-redis.js';
import { NodeRedisCluster } from './node-redis/node-redis-cluster.js';
import { NodeRedisNode } from './node-redis/node-redis-node.js';
import { NodeRedisSentinels } from './node-redis/node-redis-sentinels.js';
import type { RedisLockOptions } from './redis-options.js';

/** Options that users cannot change: this library decides when to connect, and groups commands into packets itself. */
const OURS = { lazyConnect: true, enableAutoPipelining: false };
/** The same for clusters: replicas lack the latest state of a lock, and messages arrive over separate connections. */
const OURS_OF_CLUSTERS = { ...OURS, scaleReads: 'master', shardedSubscribers: false };

/**
 * Creates the client that carries the commands of a lock client, not connected yet. It is private, a duplicate of the
 * user's client if there is one, and keeps trying to connect while it is open.
 *
 * Rejects with `LockConnectionError`, or with `LockOptionsError` where the options are those of the other package.
 */
export async function makeClient(name: string, options: RedisLockOptions): Promise<RedisClient> {
  const { client } = options;
  const silence = longestSilence(options);
  if (isNodeRedis(client)) return new NodeRedisNode(serverOf(client), silence);
  if (isIoRedis(client)) {
    if (isClosed(client))
      throw new LockConnectionError(
        `The Redis client of lock client "${name}" was already closed. Hand over one that is open.`,
        { client: name },
      );
    const ours = isRedisCluster(client) ? OURS_OF_CLUSTERS : OURS;
    return lookingFirst(duplicateOf(client, { socketTimeout: silence }, ours));
  }
  const driver = await loadDriver(name, client === undefined ? options.driver : 'node-redis');
  refuseOptionsOfOther(isIoRedisPackage(driver) ? 'ioredis' : 'node-redis', name, options);
  return isIoRedisPackage(driver)
    ? byIoRedis(driver, options, silence)
    : byNodeRedis(driver, options, silence);
}

function byIoRedis(
  { Redis, Cluster }: IoRedis,
  { connect, cluster }: RedisLockOptions,
  socketTimeout: number,
): RedisClient {
  if (cluster) {
    const { redisOptions } = { redisOptions: {}, ...cluster.options };
    const each = { redisOptions: { socketTimeout, ...redisOptions } };
    return new Cluster(cluster.nodes, { ...cluster.options, ...each, ...OURS_OF_CLUSTERS });
  }
  return lookingFirst(
    typeof connect === 'string'
      ? new Redis(connect, { socketTimeout, ...OURS })
      : new Redis({ socketTimeout, ...connect, ...OURS }),
  );
}

/**
 * ioredis 5 sends what waits right behind the `SELECT` of a new connection, in database 0 if that is refused, unless it looks at the
 * server first.
 */
function lookingFirst(client: RedisClient): RedisClient {
  const options = client.options as { db?: number; enableReadyCheck?: boolean };
  if (options.db) options.enableReadyCheck = true;
  return client;
}

function byNodeRedis(
  redis: NodeRedis,
  { client, connect, cluster }: RedisLockOptions,
  silence: number,
): RedisClient {
  const clusterOptions = cluster
    ? { ...cluster.options, rootNodes: cluster.nodes.map(rootNode) }
    : client && clusterOptionsOf(client as NodeRedisClusterClient);
  if (clusterOptions) return new NodeRedisCluster(redis, clusterOptions, silence);
  if (typeof connect === 'object' && 'sentinelRootNodes' in connect)
    return new NodeRedisNode(
      new NodeRedisSentinels(redis, connect as NodeRedisSentinelOptions),
      silence,
    );
  const template = typeof connect === 'string' ? { url: connect } : { ...connect };
  return new NodeRedisNode(serverOf(redis.createClient(template)), silence);
}

/** A node of a cluster as `createCluster` takes it. */
function rootNode(
  node: string | Partial<HostAndPort>,
): NodeRedisClusterOptions['rootNodes'][number] {
  if (typeof node === 'string') return { url: isHostAndPort(node) ? `redis://${node}` : node };
  return 'host' in node || 'port' in node ? { socket: node } : (node as object);
}

/** Options that only one of the packages knows. The other would take no notice, and connect to the local server. */
const ONLY_OF: Record<RedisDriver, readonly string[]> = {
  ioredis: ['host', 'port', 'path', 'sentinels', 'tls', 'db', 'redisOptions'],
  'node-redis': ['socket', 'sentinelRootNodes', 'nodeClientOptions', 'defaults'],
};

function refuseOptionsOfOther(
  driver: RedisDriver,
  client: string,
  { connect, cluster }: RedisLockOptions,
): void {
  if (driver === 'node-redis') refuseQueries(client, { connect, 'cluster.nodes': cluster?.nodes });
  const other = driver === 'ioredis' ? 'node-redis' : 'ioredis';
  for (const [option, given] of Object.entries({ connect, 'cluster.options': cluster?.options })) {
    const wrong = ONLY_OF[other].find((it) => typeof given === 'object' && it in given);
    if (wrong !== undefined)
      throw new LockOptionsError(
        option,
        new NotShown(`has \`${wrong}\``),
        `options of ${driver}, which is the driver; \`${wrong}\` is one of ${other} (\`driver: '${other}'\`)`,
        { client },
      );
  }
}

/** node-redis takes no notice of the query of a URL: a user or a password in it would not be used. */
function refuseQueries(client: string, urls: Readonly<Record<string, unknown>>): void {
  for (const [option, given] of Object.entries(urls))
    if ([given].flat().some((url) => typeof url === 'string' && url.includes('?')))
      throw new LockOptionsError(
        option,
        new NotShown('a URL with a query'),
        'a URL with nothing in its query, of which node-redis, the driver, takes no notice; user and password stand before the host, and other options in an object, or in the `options` of a `cluster`',
        { client },
      );
}

/** A closed Cluster changes from 'end' to 'close'; one that will reconnect does not stay in 'close'. */
function isClosed(client: RedisClient): boolean {
  return client.status === 'end' || (isRedisCluster(client) && client.status === 'close');
}

/** Longest wait for a reply before the connection is dropped, in ms: leaves time for another renewal and for `WAIT`. */
function longestSilence({ watchdogTimeout = 30_000, replicas }: RedisLockOptions): number {
  return Math.max(5_000, watchdogTimeout / 3) + (replicas ? (replicas.timeout ?? 1_000) : 0);
}
