import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { RetryPolicy } from '../connection/retry-policies.js';
import type { AtomicOptions } from './atomic-options.js';

/** @throws LockOptionsError when they are out of their ranges */
export function checkAtomicOptions(options: AtomicOptions, context: LockErrorContext): void {
  const { retryPolicy, promotedToLock = {} } = options;
  checkPolicy('retryPolicy', retryPolicy, context);
  if (promotedToLock === false) return;
  if (typeof promotedToLock !== 'object' || promotedToLock === null) {
    const expected = 'an object with `key`, `wait` and `retryPolicy`, or false';
    throw new LockOptionsError('promotedToLock', promotedToLock, expected, context);
  }
  validateAcquireOptions({ wait: promotedToLock.wait }, context);
  checkPolicy('promotedToLock.retryPolicy', promotedToLock.retryPolicy, context);
}

function checkPolicy(
  option: string,
  policy: RetryPolicy | undefined,
  context: LockErrorContext,
): void {
  if (policy === undefined || typeof policy?.nextDelay === 'function') return;
  throw new LockOptionsError(option, policy, 'a retry policy', context);
}
