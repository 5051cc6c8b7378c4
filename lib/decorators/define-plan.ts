import { validateLockKey } from '../core/validate-lock-key.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { nameKeyError } from '../interceptors/name-key-error.js';
import { compileKeyTemplate } from './compile-key-template.js';
import { validateLockMethodOptions } from './validate-lock-method-options.js';

/**
 * Checks what a decorator was given, and makes a key template a function.
 *
 * @throws LockOptionsError, LockKeyError naming the method
 */
export function definePlan(plan: LockPlan): LockPlan {
  validateLockMethodOptions(plan);
  if (typeof plan.key === 'function') return plan;
  try {
    validateLockKey(plan.key);
  } catch (error) {
    throw nameKeyError(error, plan.key, plan.method);
  }
  return { ...plan, key: compileKeyTemplate(plan.key, plan.method) };
}
