import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { LOCK_DEFAULTS, LOCK_PLANS } from '../lock.constants.js';
import { withMethodInErrors, validateLockMethodOptions } from './define-plan.js';

const above = (object: object) => Object.getPrototypeOf(object) as object | null;

/** The plans of the methods of a class, by its prototype, as defined and with its defaults. Every call reads it. */
const completed = new WeakMap<object, Map<LockPlan, LockPlan>>();

/** The `@LockDefaults` of a class, merged with those of its superclasses. */
export const LockDefaultsMetadata = {
  /** Adds options to those of the superclasses and overrides them one by one. */
  define(prototype: object, options: LockDefaultsOptions): void {
    const inherited = LockDefaultsMetadata.of(prototype);
    Reflect.defineMetadata(LOCK_DEFAULTS, { ...inherited, ...omitUndefined(options) }, prototype);
    completed.delete(prototype); // another `@LockDefaults` of the same class may have filled the cache
  },

  /** Defaults of the class of `instance`. */
  of(instance: object): LockDefaultsOptions | undefined {
    return Reflect.getMetadata(LOCK_DEFAULTS, instance) as LockDefaultsOptions | undefined;
  },
};

/**
 * The plan of a method of `instance`, with the defaults of its class; the same object every time. Class decorators run after
 * method decorators, and a subclass may have other defaults, so this cannot be done earlier.
 *
 * @throws LockOptionsError naming the method, if options conflict
 */
export function withClassDefaults(instance: object, plan: LockPlan): LockPlan {
  const prototype = above(instance) ?? instance;
  let plans = completed.get(prototype);
  if (plans === undefined) completed.set(prototype, (plans = new Map<LockPlan, LockPlan>()));
  let complete = plans.get(plan);
  if (complete === undefined) plans.set(plan, (complete = merge(plan, prototype)));
  return complete;
}

/** Whether its decorator decides what a call does that gets no lock: of the defaults, only the client applies. */
const isOwnPolicy = (plan: LockPlan) =>
  plan.once !== undefined || plan.lock.recipe === 'leaderLatch';

/**
 * The plan with the policies of its client, where it has none.
 *
 * @throws LockOptionsError naming the method, if options conflict
 */
export function withPolicies(
  plan: LockPlan,
  { onBusy, onLost }: Pick<LockDefaultsOptions, 'onBusy' | 'onLost'>,
): LockPlan {
  if (isOwnPolicy(plan) || (onBusy === undefined && onLost === undefined)) return plan;
  const options = { onBusy, onLost, ...omitUndefined(plan.options) };
  withMethodInErrors(plan, () => validateLockMethodOptions(options));
  return { ...plan, options };
}

function merge(plan: LockPlan, prototype: object): LockPlan {
  const defaults = LockDefaultsMetadata.of(prototype);
  if (defaults === undefined) return plan;
  const taken = isOwnPolicy(plan) ? { client: defaults.client } : defaults;
  const options = { ...taken, ...omitUndefined(plan.options) };
  withMethodInErrors(plan, () => validateLockMethodOptions(options));
  return { ...plan, options };
}

type PlansByName = Map<string | symbol, readonly LockPlan[]>;

const own = (prototype: object) =>
  Reflect.getOwnMetadata(LOCK_PLANS, prototype) as PlansByName | undefined;

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

  /** Methods of a class, and of those above, at which a call ends without the lock of the method that they override. */
  overridden(prototype: object): readonly BareOverride[] {
    const found: BareOverride[] = [];
    for (let it: object | null = prototype; it !== null; it = above(it))
      for (const [key, [plan]] of own(it) ?? []) {
        const by = bareOverride(prototype, it, key);
        const name = String(key);
        if (by && plan) found.push({ override: `${by.constructor.name}.${name}`, name, plan });
      }
    return found;
  },
};

/** A method without a lock in place of one with a lock. */
interface BareOverride {
  /** Class and method, e.g. `SpecialOrders.pay`. */
  readonly override: string;
  readonly name: string;
  readonly plan: LockPlan;
}

/**
 * The first class from `below` up to that of the plan whose method has no lock and does not seem to call `super`. Reads the source:
 * a decorator that wraps the method, and copies no metadata, is taken for one that does not.
 */
function bareOverride(below: object, planned: object, key: string | symbol): object | undefined {
  for (let it = below; it !== planned; it = above(it)!) {
    const method: unknown = Object.getOwnPropertyDescriptor(it, key)?.value;
    if (typeof method !== 'function') continue;
    if (own(it)?.has(key) || Reflect.hasOwnMetadata(LOCK_PLANS, method)) return undefined;
    if (!/\bsuper\s*[.[]/.test(Function.prototype.toString.call(method))) return it;
  }
  return undefined;
}

/** A copy without the properties that are `undefined`. */
export function omitUndefined<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
