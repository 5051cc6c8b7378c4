import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { LOCK_DEFAULTS, LOCK_PLANS } from '../lock.constants.js';
import { withMethodInErrors, validateLockMethodOptions } from './define-plan.js';

/** Cache by prototype; `undefined` if its class has no defaults. Every call reads it, and metadata is slow. */
const known = new WeakMap<object, LockDefaultsOptions | undefined>();

/** The `@LockDefaults` of a class, merged with those of its superclasses. */
export const LockDefaultsMetadata = {
  /** Adds options to those of the superclasses and overrides them one by one. */
  define(prototype: object, options: LockDefaultsOptions): void {
    const inherited = Reflect.getMetadata(LOCK_DEFAULTS, prototype) as LockDefaultsOptions;
    Reflect.defineMetadata(LOCK_DEFAULTS, { ...inherited, ...omitUndefined(options) }, prototype);
    known.delete(prototype); // another `@LockDefaults` of the same class may have filled the cache
  },

  /** Defaults of the class of `instance`; `undefined` if it is not an object. */
  of(instance: unknown): LockDefaultsOptions | undefined {
    if (typeof instance !== 'object' || instance === null) return undefined;
    const prototype = Object.getPrototypeOf(instance) as object | null;
    if (prototype === null) return undefined;
    if (!known.has(prototype))
      known.set(prototype, Reflect.getMetadata(LOCK_DEFAULTS, prototype) as LockDefaultsOptions);
    return known.get(prototype);
  },
};

/** Cache by the defaults of a class: maps a plan as defined to the plan with those defaults. */
const completed = new WeakMap<LockDefaultsOptions, WeakMap<LockPlan, LockPlan>>();

/**
 * The plan of a method of `instance`, with the defaults of its class; the same object every time. Class decorators run after
 * method decorators, and a subclass may have other defaults, so this cannot be done earlier.
 *
 * @throws LockOptionsError naming the method, if options conflict
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
  /** Adds the plan of a decorator, which is outside the existing ones. */
  add(prototype: object, name: string | symbol, method: object, plan: LockPlan): void {
    const byName = own(prototype) ?? (new Map() as PlansByName);
    const plans = [plan, ...(byName.get(name) ?? [])];
    byName.set(name, plans);
    Reflect.defineMetadata(LOCK_PLANS, byName, prototype);
    Reflect.defineMetadata(LOCK_PLANS, plans, method);
  },

  /** True if that class or a superclass has plans. */
  has(prototype: object): boolean {
    return Reflect.hasMetadata(LOCK_PLANS, prototype);
  },

  /**
   * All plans of the class of `instance` and of its superclasses, with the defaults of its class.
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

/** A copy without the properties that are `undefined`. */
export function omitUndefined<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
