import type { RedisClient } from '../../lib/redis/connection/ioredis.js';

/**
 * An ioredis client to be handed over to a lock client, which then sends its commands through that very client instead of a
 * duplicate: so a test sees them, and may end the connection.
 */
export function asOwn<T extends RedisClient>(client: T): T {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'duplicate') return () => target;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
