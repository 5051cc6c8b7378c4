import { validateLockKey } from '../core/internal/validation.js';
import { nameMethod } from '../interceptors/name-method.js';
import { targetsOf } from '../interceptors/targets-of.js';
import { validateLockTarget } from '../interceptors/validate-lock-target.js';
import type { LockPlan, RunOnceTarget } from '../interfaces/lock-plan.interface.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import { compileKeyTemplate } from './compile-key-template.js';
import { validateElectionName } from './validate-election-name.js';
import { validateLockMethodOptions } from './validate-lock-method-options.js';
import { validateRunOnce } from './validate-run-once.js';

/**
 * Checks what a decorator was given, and makes key templates functions.
 *
 * @throws LockOptionsError, LockKeyError naming the method
 */
export function definePlan(plan: LockPlan): LockPlan {
  const lock = nameMethod(plan, () => {
    validateLockMethodOptions(plan.options);
    if (plan.once) validateRunOnce(plan.once);
    return checkedLock(plan);
  });
  return { ...plan, lock };
}

function checkedLock({ lock, method }: LockPlan): LockPlan['lock'] {
  if (lock.recipe === 'leaderLatch') {
    validateElectionName(lock.key);
    return lock;
  }
  if (lock.recipe === 'semaphoreMutex') return withCompiledKey(lock, method);
  if (lock.recipe !== 'multiLock') {
    validateLockTarget(lock);
    return withCompiledKey(lock, method);
  }
  const { members } = lock;
  if (typeof members === 'function') return lock;
  const targets = targetsOf(members).map((target) => withCompiledKey(target, method));
  return { ...lock, members: targets };
}

function withCompiledKey<T extends LockTarget | RunOnceTarget>(target: T, method: string): T {
  const { key } = target;
  if (typeof key === 'function') return target;
  validateLockKey(key);
  return { ...target, key: compileKeyTemplate(key, method) };
}
