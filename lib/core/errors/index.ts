export {
  BarrierStateError,
  CounterOverflowError,
  ElectionClosedError,
  SharedValueClosedError,
} from './recipe-errors.js';
export {
  LockAbortedError,
  LockError,
  type LockErrorCode,
  type LockErrorContext,
  LockNotHeldError,
  LockTimeoutError,
  LockUpgradeError,
} from './lock-error.js';
export { type DeadlockedAcquire, LockDeadlockError } from './lock-deadlock-error.js';
export { type EventLoopStall, LockLostError, type LossEvidence } from './lock-lost-error.js';
export {
  LockClientClosedError,
  LockClientDuplicateError,
  LockClientUnknownError,
  LockConnectionError,
  LockQueueFullError,
} from './client-errors.js';
export {
  LockDecoratorTargetError,
  LockInterceptorMissingError,
  LockKeyError,
  LockOptionsError,
} from './usage-errors.js';
