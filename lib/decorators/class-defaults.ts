import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import { LOCK_DEFAULTS } from '../lock.constants.js';
import { withoutUndefined } from './without-undefined.js';

/** By prototype; `undefined` where its class has none. It is asked for in each call, and metadata is slow. */
const known = new WeakMap<object, LockDefaultsOptions | undefined>();

/** What `@LockDefaults` says of a class, with what it says of those above it. */
export const ClassDefaults = {
  /** Adds to what the classes above say; what is said here counts more. */
  define(prototype: object, options: LockDefaultsOptions): void {
    const inherited = Reflect.getMetadata(LOCK_DEFAULTS, prototype) as LockDefaultsOptions;
    Reflect.defineMetadata(
      LOCK_DEFAULTS,
      { ...inherited, ...withoutUndefined(options) },
      prototype,
    );
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
