import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { systemClock } from '../core/clock.js';
import { RedisConnection } from './connection/redis-connection.js';
import { makeClient } from './make-client.js';
import type { RedisLockOptions } from './redis-lock-options.js';

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
