import type { Clock } from '../../../lib/core/clock.js';
import type { RedisClient } from '../../../lib/redis/connection/ioredis.js';
import { RedisConnection } from '../../../lib/redis/connection/redis-connection.js';

/** A connection of a client in the hands of the test. */
export function connectionOf(client: RedisClient, clock: Clock): RedisConnection {
  return new RedisConnection({
    client,
    shardedSubscriptionMode: 'auto',
    clock,
    onStateChange: () => {},
  });
}
