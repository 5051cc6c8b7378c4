import type { Lock } from '../../../lib/core/lock.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

/**
 * The lock with that specification: `lock:a`, `fair:a`, `fenced:a`, `read:a`, `write:a`, `spin:a`, and `lock:a+lock:b` for a
 * multi-lock.
 */
export function redisLockOf(specification: string, client: RedisLockClient): Lock {
  const parts = specification.split('+');
  if (parts.length > 1) return client.multiLock(parts.map((part) => redisLockOf(part, client)));
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
    case 'spin':
      return client.spinLock(name);
    default:
      throw new Error(`No such lock: ${specification}`);
  }
}
