export {
  BarrierStateError,
  CounterOverflowError,
  ElectionClosedError,
  SharedValueClosedError,
} from './recipe-errors.js';
export {
  type EventLoopStall,
  LockAbortedError,
  LockError,
  type LockErrorCode,
  type LockErrorContext,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  LockUpgradeError,
} from './lock-error.js';
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
