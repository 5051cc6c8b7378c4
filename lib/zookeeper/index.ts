export { type AclEntry, type AuthInfo, Permission } from './connection/zookeeper-connection.js';
export {
  BoundedExponentialBackoffRetry,
  ExponentialBackoffRetry,
  RetryForever,
  RetryNTimes,
  type RetryPolicy,
  RetryUntilElapsed,
} from './connection/retry-policies.js';
export { ZooKeeperError } from './connection/zookeeper-error.js';
export type { AtomicOptions } from './recipes/atomic-options.js';
export type { AtomicStats } from './recipes/atomic-stats.js';
export type { AtomicValue } from './recipes/atomic-value.js';
export type {
  DistributedAtomicInteger,
  DistributedAtomicLong,
  DistributedAtomicNumber,
} from './recipes/distributed-atomic-number.js';
export type { DistributedBarrier } from './recipes/distributed-barrier.js';
export type { DistributedDoubleBarrier } from './recipes/distributed-double-barrier.js';
export type { InterProcessMutex } from './recipes/inter-process-mutex.js';
export type { InterProcessReadWriteLock } from './recipes/inter-process-read-write-lock.js';
export type { InterProcessSemaphoreMutex } from './recipes/inter-process-semaphore-mutex.js';
export type { InterProcessSemaphoreV2 } from './recipes/inter-process-semaphore-v2.js';
export type { NodeOptions } from './recipes/node-data.js';
export type { PromotedToLock } from './recipes/promoted-to-lock.js';
export type { InterProcessReadLock } from './recipes/inter-process-read-lock.js';
export type { SharedValue } from './recipes/shared-value.js';
export type { SharedCount } from './recipes/shared-count.js';
export type { SharedCountReader } from './recipes/shared-count-reader.js';
export type { VersionedValue } from './recipes/versioned-value.js';
export type { InterProcessWriteLock } from './recipes/inter-process-write-lock.js';
export type { RevocationListener, ZooKeeperLease } from './recipes/zookeeper-lease.js';
export type { ZooKeeperLockClient } from './zookeeper-lock-client.js';
export type { ZooKeeperSemaphoreOptions } from './zookeeper-semaphore-options.js';
export type { ZooKeeperLockOptions } from './zookeeper-lock-options.js';
