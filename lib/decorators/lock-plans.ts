import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { LOCK_PLANS } from '../lock.constants.js';
import { completePlan } from './complete-plan.js';

type PlansByName = Map<string | symbol, readonly LockPlan[]>;

const own = (prototype: object) =>
  Reflect.getOwnMetadata(LOCK_PLANS, prototype) as PlansByName | undefined;

const above = (object: object) => Object.getPrototypeOf(object) as object | null;

/**
 * The plans of the locked methods of a class, outermost first. They are kept as metadata of the prototype, and for tools
 * also of the method.
 */
export const LockPlans = {
  /** Adds the plan of a decorator, which is around those that are there. */
  add(prototype: object, name: string | symbol, method: object, plan: LockPlan): void {
    const byName = own(prototype) ?? (new Map() as PlansByName);
    const plans = [plan, ...(byName.get(name) ?? [])];
    byName.set(name, plans);
    Reflect.defineMetadata(LOCK_PLANS, byName, prototype);
    Reflect.defineMetadata(LOCK_PLANS, plans, method);
  },

  /** Has that class any, or one above it? */
  has(prototype: object): boolean {
    return Reflect.hasMetadata(LOCK_PLANS, prototype);
  },

  /**
   * All plans of the class of `instance` and of the classes above it, with the defaults of its class.
   *
   * @throws LockOptionsError
   */
  of(instance: object): readonly LockPlan[] {
    const plans: LockPlan[] = [];
    for (let it: object | null = instance; it !== null; it = above(it))
      for (const some of own(it)?.values() ?? []) plans.push(...some);
    return plans.map((plan) => completePlan(instance, plan));
  },
};
