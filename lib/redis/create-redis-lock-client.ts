import { LockEventEmitter } from '../core/lock-event-emitter.js';
import { systemClock } from '../core/system-clock.js';
import { loadIoRedis } from './connection/load-ioredis.js';
import type { RedisClient } from './connection/redis-client.js';
import { RedisConnection } from './connection/redis-connection.js';
import { RedisLockClient } from './redis-lock-client.js';
import type { RedisLockOptions } from './redis-lock-options.js';
import { validateRedisOptions } from './validate-redis-options.js';

/**
 * A lock client on Redis; call `connect()` next.
 *
 * Rejects with `LockOptionsError`, or with `LockConnectionError` when the package `ioredis` is needed and not installed.
 */
export async function createRedisLockClient(
  name: string,
  options: RedisLockOptions,
): Promise<RedisLockClient> {
  validateRedisOptions(options, name);
  const { shardedSubscriptionMode = 'auto' } = options;
  const events = new LockEventEmitter();
  const connection = new RedisConnection({
    client: options.client ?? (await makeClient(name, options)),
    isOwned: options.client === undefined,
    shardedSubscriptionMode,
    clock: systemClock,
    onStateChange: (state, reason) => events.emit('connection', { state, reason }),
  });
  return new RedisLockClient({ name, connection, events, clock: systemClock, options });
}

/** A client of our own, not connected yet, which tries to connect for as long as it is open. */
async function makeClient(name: string, options: RedisLockOptions): Promise<RedisClient> {
  const { connect, cluster } = options;
  const { Redis, Cluster } = await loadIoRedis(name);
  const ours = { lazyConnect: true };
  const defaults = { socketTimeout: longestSilence(options) };
  if (cluster) {
    const { redisOptions } = { redisOptions: {}, ...cluster.options };
    const each = { redisOptions: { ...defaults, ...redisOptions } };
    return new Cluster(cluster.nodes, { ...cluster.options, ...each, ...ours });
  }
  return typeof connect === 'string'
    ? new Redis(connect, { ...defaults, ...ours })
    : new Redis({ ...defaults, ...connect, ...ours });
}

/** When a connection is given up that owes an answer: in time for another renewal, but not while replicas are waited for. */
function longestSilence({ watchdogTimeout = 30_000, replicas }: RedisLockOptions): number {
  return Math.max(5_000, watchdogTimeout / 3) + (replicas ? (replicas.timeout ?? 1_000) : 0);
}
