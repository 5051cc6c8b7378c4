import { systemClock } from '../core/clock.js';
import { LockConnectionError, LockError, LockTimeoutError } from '../core/errors/index.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { WaitScope, type WaitScopeContext } from '../core/internal/wait-scope.js';
import {
  duplicateOf,
  isRedisCluster,
  loadIoRedis,
  type RedisClient,
} from './connection/ioredis.js';
import { RedisConnection } from './connection/redis-connection.js';
import type { RedisLockOptions } from './redis-options.js';

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

/**
 * The connection that the options ask for, not connected yet.
 *
 * Rejects with `LockConnectionError` when the package `ioredis` is needed and not installed, and when the user's client was
 * closed before.
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
    client: await makeClient(name, options),
    shardedSubscriptionMode,
    clock: systemClock,
    onStateChange: (state, reason) => events.emit('connection', { state, reason }),
  });
}

/** Connects a client within `connectTimeout` ms; closes the connection where that fails. */
export async function connectToRedis(
  connection: RedisConnection,
  events: LockEventEmitter,
  context: WaitScopeContext & { readonly client: string },
  connectTimeout: number,
): Promise<void> {
  const { client } = context;
  const wait = new WaitScope(context, { wait: connectTimeout });
  let lastReason = 'no server has answered';
  const stop = events.on('connection', ({ reason }) => (lastReason = reason));
  try {
    await connection.connect(wait, client);
  } catch (cause) {
    stop(); // the closing is not what it failed of
    connection.close();
    if (cause instanceof LockError && !(cause instanceof LockTimeoutError)) throw cause;
    const why = cause instanceof LockError ? lastReason : String(cause);
    throw new LockConnectionError(
      `Lock client "${client}" could not connect to Redis within ${connectTimeout} ms (${why}). Check \`connect\` and that the server runs, or raise \`connectTimeout\`.`,
      { client, cause },
    );
  } finally {
    stop();
    wait.end();
  }
}
