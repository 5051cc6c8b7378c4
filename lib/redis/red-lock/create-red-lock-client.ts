import { TimerWheelClock } from '../../core/timer-wheel-clock.js';
import { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import { LockOptionsError } from '../../core/errors/index.js';
import { systemClock } from '../../core/clock.js';
import { LIVENESS } from '../../core/internal/client-lifecycle.js';
import { isClient } from '../drivers.js';
import { RedisLiveness } from '../connection/redis-liveness.js';
import { LONGEST_TIMEOUT, makeConnection } from '../make-connection.js';
import { RedisLockClient } from '../redis-lock-client.js';
import type { RedisLockOptions } from '../redis-options.js';
import { validateRedisOptions } from '../validate-redis-options.js';
import { NO_HAND_OFF, RedLockClient } from './red-lock-client.js';
import { RedLockNodes, type RedLockNode } from './red-lock-nodes.js';

/** Options of the client of each server: the limits are those of the RedLock, not of its requests to the servers. */
const NO_LIMITS = {
  nodes: undefined,
  connectTimeout: LONGEST_TIMEOUT,
  maxWaiters: Infinity,
  maxWaitersPerKey: Infinity,
};

/**
 * Creates a lock client on several Redis servers; call `connect()` next.
 *
 * Rejects with `LockOptionsError`, or with `LockConnectionError` if the package `ioredis` is needed and not installed.
 */
export async function createRedLockClient(
  name: string,
  options: RedisLockOptions,
): Promise<RedLockClient> {
  validateRedisOptions(options, name);
  const { nodes = [], handOff } = options;
  if (handOff) throw new LockOptionsError('handOff', handOff, NO_HAND_OFF, { client: name });
  if (nodes.length % 2 === 0)
    process.emitWarning(
      `Lock client "${name}" has ${nodes.length} Redis servers: with one server fewer, the same number of servers may fail. Give it an odd number.`,
    );
  const clock = new TimerWheelClock(systemClock);
  const made = nodes.map(async (node): Promise<RedLockNode> => {
    // A server that is down at the start is retried for as long as the client is open.
    const source = isClient(node) ? { client: node } : { connect: node };
    const each = { ...options, ...source, ...NO_LIMITS };
    const ownEvents = new LockEventEmitter();
    const connection = await makeConnection(name, each, ownEvents);
    const settings = { name, connection, events: ownEvents, clock, options: each };
    return { connection, client: new RedisLockClient(settings) };
  });
  const events = new LockEventEmitter(name);
  const all = await Promise.all(made);
  const servers = new RedLockNodes(name, all, clock, events);
  const client = new RedLockClient({ name, nodes: servers, events, clock, options });
  const liveness = new RedisLiveness(all.map(({ connection }) => connection));
  return Object.assign(client, { [LIVENESS]: liveness });
}
