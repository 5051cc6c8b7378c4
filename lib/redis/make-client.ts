import { LockConnectionError } from '../core/errors/index.js';
import {
  duplicateOf,
  isRedisCluster,
  loadIoRedis,
  type RedisClient,
} from './connection/ioredis.js';
import type { RedisLockOptions } from './redis-lock-options.js';

/** What no user may change: we connect it when we are told to, and put commands into packets ourselves. */
const OURS = { lazyConnect: true, enableAutoPipelining: false };
/** Replicas do not know the newest of a lock; and messages come by connections of their own. */
const OURS_OF_CLUSTERS = { ...OURS, scaleReads: 'master', shardedSubscribers: false };

/**
 * The client that the commands of a lock client go through, not connected yet. It is ours alone, made from the user's where
 * there is one, and tries to connect for as long as it is open.
 *
 * Rejects with `LockConnectionError`.
 */
export async function makeClient(name: string, options: RedisLockOptions): Promise<RedisClient> {
  const { client, connect, cluster } = options;
  const defaults = { socketTimeout: longestSilence(options) };
  if (client) {
    if (isClosed(client))
      throw new LockConnectionError(
        `The Redis client of lock client "${name}" was closed before. Hand over one that is open.`,
        { client: name },
      );
    return duplicateOf(client, defaults, isRedisCluster(client) ? OURS_OF_CLUSTERS : OURS);
  }
  const { Redis, Cluster } = await loadIoRedis(name);
  if (cluster) {
    const { redisOptions } = { redisOptions: {}, ...cluster.options };
    const each = { redisOptions: { ...defaults, ...redisOptions } };
    return new Cluster(cluster.nodes, { ...cluster.options, ...each, ...OURS_OF_CLUSTERS });
  }
  return typeof connect === 'string'
    ? new Redis(connect, { ...defaults, ...OURS })
    : new Redis({ ...defaults, ...connect, ...OURS });
}

/** A Cluster that was closed goes on from 'end' to 'close'; one that is to connect again does not stay there. */
function isClosed(client: RedisClient): boolean {
  return client.status === 'end' || (isRedisCluster(client) && client.status === 'close');
}

/** When a connection is given up that owes an answer: in time for another renewal, but not while replicas are waited for. */
function longestSilence({ watchdogTimeout = 30_000, replicas }: RedisLockOptions): number {
  return Math.max(5_000, watchdogTimeout / 3) + (replicas ? (replicas.timeout ?? 1_000) : 0);
}
