export { LockError, type LockErrorCode, type LockErrorContext } from './lock-error.js';
export {
  BarrierStateError,
  CounterOverflowError,
  ElectionClosedError,
  SharedValueClosedError,
} from './recipe-errors.js';
export {
  LockAbortedError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  LockUpgradeError,
} from './acquire-errors.js';
export {
  LockClientClosedError,
  LockClientDuplicateError,
  LockClientUnknownError,
  LockConnectionError,
} from './client-errors.js';
export {
  LockDecoratorTargetError,
  LockInterceptorMissingError,
  LockKeyError,
  LockOptionsError,
} from './usage-errors.js';
