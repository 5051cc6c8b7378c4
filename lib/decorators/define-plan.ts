import { validateLockKey } from '../core/validate-lock-key.js';
import { nameMethod } from '../interceptors/name-method.js';
import { targetsOf } from '../interceptors/targets-of.js';
import { validateLockTarget } from '../interceptors/validate-lock-target.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import type { LockTarget } from '../interfaces/lock-target.interface.js';
import { compileKeyTemplate } from './compile-key-template.js';
import { validateLockMethodOptions } from './validate-lock-method-options.js';

/**
 * Checks what a decorator was given, and makes key templates functions.
 *
 * @throws LockOptionsError, LockKeyError naming the method
 */
export function definePlan(plan: LockPlan): LockPlan {
  const lock = nameMethod(plan, () => {
    validateLockMethodOptions(plan.options);
    return checkedLock(plan);
  });
  return { ...plan, lock };
}

function checkedLock({ lock, method }: LockPlan): LockPlan['lock'] {
  if (lock.recipe !== 'multiLock') {
    validateLockTarget(lock);
    return withCompiledKey(lock, method);
  }
  const { members } = lock;
  if (typeof members === 'function') return lock;
  const targets = targetsOf(members).map((target) => withCompiledKey(target, method));
  return { ...lock, members: targets };
}

function withCompiledKey(target: LockTarget, method: string): LockTarget {
  const { key } = target;
  if (typeof key === 'function') return target;
  validateLockKey(key);
  return { ...target, key: compileKeyTemplate(key, method) };
}
