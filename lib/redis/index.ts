export type { RedisClient, RedisCluster, RedisNode } from './connection/ioredis.js';
export type { ReplicaPolicy } from './connection/replicas.js';
export type { RedisDriver, UsersRedisClient } from './drivers.js';
export type { NodeRedisClient, NodeRedisClusterClient } from './node-redis/node-redis.js';
export {
  type BackOff,
  ConstantBackOff,
  ExponentialBackOff,
  type ExponentialBackOffOptions,
} from './locks/back-off.js';
export type { RedisAcquireOptions, RedisLease } from './locks/redis-lease.js';
export type { RedisCountDownLatch } from './semaphores/redis-count-down-latch.js';
export type { RedisLock } from './locks/redis-lock.js';
export type {
  RedisPermitExpirableSemaphore,
  RedisPermitOptions,
} from './semaphores/redis-permit-expirable-semaphore.js';
export type {
  RedisReadLock,
  RedisReadWriteLock,
  RedisWriteLock,
} from './locks/redis-read-write-lock.js';
export type { RedisSemaphore } from './semaphores/redis-semaphore.js';
export type { RedLockClient } from './red-lock/red-lock-client.js';
export type { RedLock, RedLockLease } from './red-lock/red-lock.js';
export { type RedisCommand, redisCommands, type RedisOperand, redisScript } from './redis-write.js';
export type { RedisLockClient } from './redis-lock-client.js';
export type {
  RedisLockOptions,
  RedisReadWriteLockOptions,
  RedisSemaphoreOptions,
  RedisSpinLockOptions,
} from './redis-options.js';
