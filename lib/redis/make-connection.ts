import { systemClock } from '../core/clock.js';
import { LockConnectionError, LockError, LockTimeoutError } from '../core/errors/index.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { WaitScope, type WaitScopeContext } from '../core/internal/wait-scope.js';
import { duplicateOf, isRedisCluster, type RedisClient } from './connection/ioredis.js';
import { isNodeRedis } from './connection/node-redis.js';
import { NodeRedisNode } from './connection/node-redis-node.js';
import { loadDriver } from './drivers.js';
import { isRefusedLogin, reasonOf } from './connection/redis-error.js';
import { RedisConnection } from './connection/redis-connection.js';
import type { RedisLockOptions } from './redis-options.js';

/** Options that users cannot change: this library decides when to connect, and groups commands into packets itself. */
const OURS = { lazyConnect: true, enableAutoPipelining: false };
/** The same for clusters: replicas lack the latest state of a lock, and messages arrive over separate connections. */
const OURS_OF_CLUSTERS = { ...OURS, scaleReads: 'master', shardedSubscribers: false };

/**
 * Creates the client that carries the commands of a lock client, not connected yet. It is private, a duplicate of the
 * user's client if there is one, and keeps trying to connect while it is open.
 *
 * Rejects with `LockConnectionError`.
 */
async function makeClient(name: string, options: RedisLockOptions): Promise<RedisClient> {
  const { client, connect, cluster } = options;
  const defaults = { socketTimeout: longestSilence(options) };
  if (client && isNodeRedis(client)) return new NodeRedisNode(client, defaults.socketTimeout);
  if (client) {
    if (isClosed(client))
      throw new LockConnectionError(
        `The Redis client of lock client "${name}" was already closed. Hand over one that is open.`,
        { client: name },
      );
    return duplicateOf(client, defaults, isRedisCluster(client) ? OURS_OF_CLUSTERS : OURS);
  }
  const driver = await loadDriver(name, options.driver);
  if ('createClient' in driver) {
    if (cluster)
      throw new LockConnectionError(
        `Lock client "${name}" cannot use a cluster by the package \`redis\`. Run \`npm install ioredis\`.`,
        { client: name },
      );
    const template = typeof connect === 'string' ? { url: connect } : { ...connect };
    return new NodeRedisNode(driver.createClient(template), defaults.socketTimeout);
  }
  const { Redis, Cluster } = driver;
  if (cluster) {
    const { redisOptions } = { redisOptions: {}, ...cluster.options };
    const each = { redisOptions: { ...defaults, ...redisOptions } };
    return new Cluster(cluster.nodes, { ...cluster.options, ...each, ...OURS_OF_CLUSTERS });
  }
  return typeof connect === 'string'
    ? new Redis(connect, { ...defaults, ...OURS })
    : new Redis({ ...defaults, ...connect, ...OURS });
}

/** A closed Cluster changes from 'end' to 'close'; one that will reconnect does not stay in 'close'. */
function isClosed(client: RedisClient): boolean {
  return client.status === 'end' || (isRedisCluster(client) && client.status === 'close');
}

/** Longest wait for a reply before the connection is dropped, in ms: leaves time for another renewal and for `WAIT`. */
function longestSilence({ watchdogTimeout = 30_000, replicas }: RedisLockOptions): number {
  return Math.max(5_000, watchdogTimeout / 3) + (replicas ? (replicas.timeout ?? 1_000) : 0);
}

/**
 * Creates the connection that the options describe, not connected yet.
 *
 * Rejects with `LockConnectionError` when a package is needed and not installed, and when the user's client was closed
 * before.
 *
 * @param events emits its state changes
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

/** From this `connectTimeout` on, in ms, there is no bound on the connecting. */
export const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** Connects a client within `connectTimeout` ms; closes the connection if that fails. */
export async function connectToRedis(
  connection: RedisConnection,
  events: LockEventEmitter,
  context: WaitScopeContext & { readonly client: string },
  connectTimeout: number,
): Promise<void> {
  const { client } = context;
  // One of several servers is tried without an end, and a timer for that would keep the process alive.
  const bound = connectTimeout < LONGEST_TIMEOUT ? connectTimeout : 'forever';
  const wait = new WaitScope(context, { wait: bound });
  let lastReason = 'no server has answered';
  const stop = events.on('connection', ({ reason }) => (lastReason = reason));
  try {
    await connection.connect(wait, client);
  } catch (cause) {
    stop(); // the close that follows is not the reason of the failure
    connection.close();
    if (cause instanceof LockError && !(cause instanceof LockTimeoutError)) throw cause;
    const why = cause instanceof LockError ? lastReason : reasonOf(cause);
    const advice = isRefusedLogin(why)
      ? 'Check the user and the password'
      : 'Check `connect` and that the server runs';
    throw new LockConnectionError(
      `Lock client "${client}" could not connect to Redis within ${connectTimeout} ms (${why}). ${advice}, or raise \`connectTimeout\`.`,
      { client, cause },
    );
  } finally {
    stop();
    wait.end();
  }
}
