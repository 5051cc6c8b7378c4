import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockInterceptorMissingError,
  LockKeyError,
  LockLostError,
  LockNotHeldError,
  LockOptionsError,
  LockTimeoutError,
  LockUpgradeError,
  type LockError,
} from '../../../lib/index.js';

const about = { key: 'patient:secret', client: 'default' };

/** Errors of a lock with a secret key, by their codes. */
export const lockFailures: Readonly<Record<string, LockError>> = {
  LOCK_TIMEOUT: new LockTimeoutError(2_400, about),
  LOCK_ABORTED: new LockAbortedError(about),
  LOCK_LOST: new LockLostError('its session is over', about),
  LOCK_NOT_HELD: new LockNotHeldError(about),
  LOCK_UPGRADE: new LockUpgradeError(about),
  LOCK_CONNECTION: new LockConnectionError('secret.example:2181 does not answer.', about),
  LOCK_CLIENT_CLOSED: new LockClientClosedError(about),
  LOCK_ELECTION_CLOSED: new ElectionClosedError(about),
  LOCK_KEY: new LockKeyError('', 'it is empty', about),
  LOCK_OPTIONS: new LockOptionsError('wait', -1, 'milliseconds above 0', about),
  LOCK_INTERCEPTOR_MISSING: new LockInterceptorMissingError('Seats.book'),
};
