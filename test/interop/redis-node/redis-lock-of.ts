import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

/** The lock with that specification: `lock:a`, `fair:a`, `fenced:a`, `read:a`, `write:a`. */
export function redisLockOf(specification: string, client: RedisLockClient) {
  const [, kind, name = ''] = /^(\w+):(.+)$/.exec(specification) ?? [];
  switch (kind) {
    case 'lock':
      return client.mutex(name);
    case 'fair':
      return client.mutex(name, { fair: true });
    case 'fenced':
      return client.mutex(name, { fenced: true });
    case 'read':
      return client.readWriteLock(name).readLock();
    case 'write':
      return client.readWriteLock(name).writeLock();
    default:
      throw new Error(`No such lock: ${specification}`);
  }
}
