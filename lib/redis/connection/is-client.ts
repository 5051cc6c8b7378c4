import type { RedisClient } from './redis-client.js';

/** Is it an ioredis `Redis` or `Cluster`? */
export function isClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false;
  return ['call', 'duplicate', 'on'].every((it) => typeof Reflect.get(value, it) === 'function');
}
