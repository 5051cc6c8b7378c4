import { LockKeyError } from '../core/index.js';
import { validateLockKey } from '../core/internal/validation.js';
import { compileKeyTemplate } from './compile-key-template.js';

/**
 * Checks the name of an election that stands at a method: the app takes part in it before there is a call.
 *
 * @throws LockKeyError
 */
export function validateElectionName(name: unknown): asserts name is string {
  validateLockKey(name);
  if (typeof compileKeyTemplate(name, '') === 'function')
    throw new LockKeyError(name, 'it is the name of one election, so it has no placeholders');
}
