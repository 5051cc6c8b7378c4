import type { LockEventEmitter } from '../core/lock-event-emitter.js';
import { systemClock } from '../core/system-clock.js';
import { loadIoRedis } from './connection/load-ioredis.js';
import type { RedisClient } from './connection/redis-client.js';
import { RedisConnection } from './connection/redis-connection.js';
import type { RedisLockOptions } from './redis-lock-options.js';

/**
 * The connection that the options ask for, not connected yet.
 *
 * Rejects with `LockConnectionError` when the package `ioredis` is needed and not installed.
 *
 * @param events told of its states
 */
export async function makeConnection(
  name: string,
  options: RedisLockOptions,
  events: LockEventEmitter,
): Promise<RedisConnection> {
  const { shardedSubscriptionMode = 'auto' } = options;
  return new RedisConnection({
    client: options.client ?? (await makeClient(name, options)),
    isOwned: options.client === undefined,
    shardedSubscriptionMode,
    clock: systemClock,
    onStateChange: (state, reason) => events.emit('connection', { state, reason }),
  });
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
