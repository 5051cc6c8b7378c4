import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';
import { validateLease } from '../recipes/validate-lease.js';

/**
 * @param nodeTimeout how long each server may take, in ms
 * @throws LockOptionsError
 */
export function validateRedLockLease(
  lease: number,
  nodeTimeout: number,
  about: LockErrorContext,
): void {
  validateLease('lease', lease, about);
  if (lease < 3 * nodeTimeout)
    throw new LockOptionsError(
      'lease',
      lease,
      `at least three times the \`nodeTimeout\`, which is ${nodeTimeout} ms`,
      about,
    );
}
