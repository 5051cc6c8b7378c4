import { TimerWheelClock } from '../core/timer-wheel-clock.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { systemClock } from '../core/clock.js';
import { LIVENESS } from '../core/internal/client-lifecycle.js';
import { RedisLiveness } from './connection/redis-liveness.js';
import { makeConnection } from './make-connection.js';
import { RedisLockClient } from './redis-lock-client.js';
import type { RedisLockOptions } from './redis-options.js';
import { validateRedisOptions } from './validate-redis-options.js';

/**
 * Creates a lock client for one Redis or a cluster; call `connect()` next.
 *
 * Rejects with `LockOptionsError`, or with `LockConnectionError` when the package `ioredis` is needed and not installed.
 */
export async function createRedisLockClient(
  name: string,
  options: RedisLockOptions,
): Promise<RedisLockClient> {
  validateRedisOptions(options, name);
  const events = new LockEventEmitter(name);
  const connection = await makeConnection(name, options, events);
  const clock = new TimerWheelClock(systemClock);
  const client = new RedisLockClient({ name, connection, events, clock, options });
  return Object.assign(client, { [LIVENESS]: new RedisLiveness([connection]) });
}
