export {
  type AclEntry,
  type AuthInfo,
  CreateMode,
  type Created,
  type OperationAnswers,
  Permission,
  type Stat,
} from './connection/zookeeper-connection.js';
export {
  BoundedExponentialBackoffRetry,
  ExponentialBackoffRetry,
  RetryForever,
  RetryNTimes,
  type RetryPolicy,
  RetryUntilElapsed,
} from './connection/retry-policies.js';
export type { ZooKeeperDriver } from './drivers.js';
export type { ZooKeeperSaslOptions } from './wire/digest-md5.js';
export type { ZooKeeperTlsOptions } from './wire/tls-options.js';
export { ZooKeeperError } from './connection/zookeeper-error.js';
export type {
  AtomicOptions,
  AtomicStats,
  AtomicValue,
  PromotedToLock,
} from './atomic/atomic-options.js';
export type {
  DistributedAtomicInteger,
  DistributedAtomicLong,
  DistributedAtomicNumber,
} from './atomic/distributed-atomic-number.js';
export type { DistributedBarrier } from './barriers/distributed-barrier.js';
export type { DistributedDoubleBarrier } from './barriers/distributed-double-barrier.js';
export type { InterProcessMutex } from './locks/inter-process-mutex.js';
export type {
  InterProcessReadLock,
  InterProcessReadWriteLock,
  InterProcessWriteLock,
} from './locks/inter-process-read-write-lock.js';
export type { InterProcessSemaphoreMutex } from './semaphores/inter-process-semaphore-mutex.js';
export type { InterProcessSemaphoreV2 } from './semaphores/inter-process-semaphore-v2.js';
export type { NodeOptions } from './lock-path.js';
export type { SharedValue } from './shared/shared-value.js';
export type { SharedCount, SharedCountReader } from './shared/shared-count.js';
export type { VersionedValue } from './shared/watched-value.js';
export type { RevocationListener, ZooKeeperLease } from './locks/zookeeper-lease.js';
export type { ZooKeeperLockClient } from './zookeeper-lock-client.js';
export type {
  ZooKeeperLockOptions,
  ZooKeeperReadWriteOptions,
  ZooKeeperSemaphoreOptions,
} from './zookeeper-options.js';
export { type ZooKeeperOperation, zooKeeperOperations } from './zookeeper-write.js';
