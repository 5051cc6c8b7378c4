import { nameMethod } from '../interceptors/name-method.js';
import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { ClassDefaults } from './class-defaults.js';
import { validateLockMethodOptions } from './validate-lock-method-options.js';
import { withoutUndefined } from './without-undefined.js';

/** By the defaults of a class: its plans as they were defined, and as they are with those. */
const completed = new WeakMap<LockDefaultsOptions, WeakMap<LockPlan, LockPlan>>();

/**
 * The plan of a method of `instance`, with the defaults of its class; the same one every time. Class decorators run after
 * those of methods, and a subclass may have other defaults, so this cannot be done before.
 *
 * @throws LockOptionsError naming the method, where options do not go together
 */
export function completePlan(instance: unknown, plan: LockPlan): LockPlan {
  const defaults = ClassDefaults.of(instance);
  if (defaults === undefined) return plan;
  let plans = completed.get(defaults);
  if (plans === undefined) completed.set(defaults, (plans = new WeakMap()));
  let complete = plans.get(plan);
  if (complete === undefined) plans.set(plan, (complete = merge(plan, defaults)));
  return complete;
}

function merge(plan: LockPlan, defaults: LockDefaultsOptions): LockPlan {
  const isMadeOfThem = plan.once !== undefined || plan.lock.recipe === 'leaderLatch';
  const taken = isMadeOfThem ? { client: defaults.client } : defaults;
  const options = { ...taken, ...withoutUndefined(plan.options) };
  nameMethod(plan, () => validateLockMethodOptions(options));
  return { ...plan, options };
}
