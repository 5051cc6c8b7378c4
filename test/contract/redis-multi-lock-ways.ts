import type { Mutex } from '../../lib/core/lock.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';

/** How a multi-lock on Redis takes its parts, which depends on what these are; and such a part. */
export const redisMultiLockWays: [string, (locks: RedisLockClient, key: string) => Mutex][] = [
  ['taken by one script', (locks, key) => locks.mutex(key)],
  ['taken one after the other', (locks, key) => locks.mutex(key, { fenced: true })],
];
