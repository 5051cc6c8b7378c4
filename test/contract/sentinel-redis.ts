import { RedisSentinel } from '../support/redis-sentinel.js';
import type { RedisBackend } from './redis-backend.js';
import { remembering } from './remembering.js';

/** A master behind sentinels, whose replica does not take over while a test freezes it. */
export async function sentinelRedis(): Promise<RedisBackend> {
  const sentinel = await RedisSentinel.start({ downAfter: 10_000, config: remembering });
  return {
    servers: sentinel.servers,
    client: () => sentinel.client(),
    restart: () => sentinel.restart(),
    stop: () => sentinel.stop(),
  };
}
