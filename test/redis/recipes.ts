import type { RedisAcquireOptions, RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';

/** What all locks of Redis have in common. */
interface AnyLock {
  acquire(options?: RedisAcquireOptions): Promise<RedisLease>;
  tryAcquire(options?: RedisAcquireOptions): Promise<RedisLease | undefined>;
  using<T>(fn: () => Promise<T>, options?: RedisAcquireOptions): Promise<T>;
}

/** Every kind of lock that a client on Redis creates. */
export const RECIPES: Record<string, (client: RedisLockClient, key: string) => AnyLock> = {
  mutex: (client, key) => client.mutex(key),
  'semaphore mutex': (client, key) => client.semaphoreMutex(key),
  'fair mutex': (client, key) => client.mutex(key, { fair: true }),
  'fenced mutex': (client, key) => client.mutex(key, { fenced: true }),
  'read lock': (client, key) => client.readWriteLock(key).readLock(),
  'write lock': (client, key) => client.readWriteLock(key).writeLock(),
};
