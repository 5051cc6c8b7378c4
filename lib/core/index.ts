export type {
  HandOff,
  AcquireOptions,
  CountingSemaphore,
  Lock,
  LockIdentity,
  LockRecipe,
  Mutex,
  MutexOptions,
  PermitOptions,
  ReadWriteLock,
  ReadWriteLockOptions,
  SemaphoreOptions,
  Wait,
} from './lock.js';
export type { Clock, Timer } from './clock.js';
export { currentLease } from './internal/lease-scope.js';
export * from './errors/index.js';
export { LeaderLatch } from './election/leader-latch.js';
export type { ErrorPolicy, LeaderOptions, Participant } from './election/election-backend.js';
export {
  LeaderSelector,
  type LeaderSelectorOptions,
  type TakeLeadership,
} from './election/leader-selector.js';
export type { Leadership } from './election/leader-term.js';
export * from './lease.js';
export type { LockActivity, LockClient, LockClientStatus } from './lock-client.js';
export type { LockHolder } from './lock-holder.js';
export type { LockDiagnostics, LockEvents, LockSubject } from './lock-events.js';
export type { RenewalWorkerOptions } from './worker/standby-thread.js';
export type { OccurrenceMark, OccurrenceMarkOptions } from './occurrence-mark.js';
export { MultiLease } from './internal/multi-lease.js';
export { MultiLock, type MultiLockOptions } from './multi-lock.js';
