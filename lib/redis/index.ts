export type { RedisClient, RedisCluster, RedisNode } from './connection/ioredis.js';
export type { ReplicaPolicy } from './connection/replica-policy.js';
export type { BackOff } from './recipes/back-off.js';
export { ConstantBackOff } from './recipes/constant-back-off.js';
export {
  ExponentialBackOff,
  type ExponentialBackOffOptions,
} from './recipes/exponential-back-off.js';
export type { LockHolder } from './recipes/lock-holder.js';
export type { RedisAcquireOptions } from './recipes/redis-acquire-options.js';
export type { RedisCountDownLatch } from './recipes/redis-count-down-latch.js';
export type { RedisLease } from './recipes/redis-lease.js';
export type { RedisLock } from './recipes/redis-lock.js';
export type { RedisPermitExpirableSemaphore } from './recipes/redis-permit-expirable-semaphore.js';
export type { RedisPermitOptions } from './recipes/redis-permit-options.js';
export type { RedisReadLock } from './recipes/redis-read-lock.js';
export type { RedisReadWriteLock } from './recipes/redis-read-write-lock.js';
export type { RedisSemaphore } from './recipes/redis-semaphore.js';
export type { RedisWriteLock } from './recipes/redis-write-lock.js';
export type { RedLockClient } from './red-lock/red-lock-client.js';
export type { RedLockLease } from './red-lock/red-lock-lease.js';
export type { RedLock } from './red-lock/red-lock.js';
export type { RedisLockClient } from './redis-lock-client.js';
export type { RedisLockOptions } from './redis-lock-options.js';
export type { RedisMutexOptions } from './redis-mutex-options.js';
export type { RedisReadWriteLockOptions } from './redis-read-write-lock-options.js';
export type { RedisSemaphoreOptions } from './redis-semaphore-options.js';
export type { RedisSpinLockOptions } from './redis-spin-lock-options.js';
