import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { LOCK_DEFAULTS, LOCK_PLANS } from '../lock.constants.js';
import { withMethodInErrors, validateLockMethodOptions } from './define-plan.js';

/** By prototype; `undefined` where its class has none. It is asked for in each call, and metadata is slow. */
const known = new WeakMap<object, LockDefaultsOptions | undefined>();

/** What `@LockDefaults` says of a class, with what it says of those above it. */
export const LockDefaultsMetadata = {
  /** Adds to what the classes above say; what is said here counts more. */
  define(prototype: object, options: LockDefaultsOptions): void {
    const inherited = Reflect.getMetadata(LOCK_DEFAULTS, prototype) as LockDefaultsOptions;
    Reflect.defineMetadata(LOCK_DEFAULTS, { ...inherited, ...omitUndefined(options) }, prototype);
    known.delete(prototype); // another one of the same class may have been asked for
  },

  /** Those of the class of `instance`, whatever else it is. */
  of(instance: unknown): LockDefaultsOptions | undefined {
    if (typeof instance !== 'object' || instance === null) return undefined;
    const prototype = Object.getPrototypeOf(instance) as object | null;
    if (prototype === null) return undefined;
    if (!known.has(prototype))
      known.set(prototype, Reflect.getMetadata(LOCK_DEFAULTS, prototype) as LockDefaultsOptions);
    return known.get(prototype);
  },
};

/** By the defaults of a class: its plans as they were defined, and as they are with those. */
const completed = new WeakMap<LockDefaultsOptions, WeakMap<LockPlan, LockPlan>>();

/**
 * The plan of a method of `instance`, with the defaults of its class; the same one every time. Class decorators run after
 * those of methods, and a subclass may have other defaults, so this cannot be done before.
 *
 * @throws LockOptionsError naming the method, where options do not go together
 */
export function withClassDefaults(instance: unknown, plan: LockPlan): LockPlan {
  const defaults = LockDefaultsMetadata.of(instance);
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
  const options = { ...taken, ...omitUndefined(plan.options) };
  withMethodInErrors(plan, () => validateLockMethodOptions(options));
  return { ...plan, options };
}

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
    return plans.map((plan) => withClassDefaults(instance, plan));
  },
};

/** A copy with the properties that have a value. */
export function omitUndefined<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
