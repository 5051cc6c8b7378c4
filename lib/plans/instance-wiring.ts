import { INTERCEPTOR_PROPERTY } from '../lock.constants.js';

const KEY = Symbol.for('nestjs-interlock:wirings');
const shared = globalThis as { [KEY]?: { frozen: Wired; apps: Apps } };
type Wired = WeakMap<object, unknown>;
type Apps = WeakMap<object, unknown[]>;

/** Shared by every copy of this package in the process. */
const { frozen, apps } = (shared[KEY] ??= {
  /** Interceptors of instances that take no property. */
  frozen: new WeakMap(),
  /** Interceptors of the apps that have an instance, in the order of their boots. */
  apps: new WeakMap(),
});

/** How an instance finds the interceptor of its app. */
export const InstanceWiring = {
  /**
   * Lets the instances of a class have an interceptor, which Nest injects as a property: also those that are frozen by their
   * constructor. The property is not enumerable.
   */
  prepare(prototype: object): void {
    Object.defineProperty(prototype, INTERCEPTOR_PROPERTY, {
      configurable: true,
      get(this: object): unknown {
        return frozen.get(this);
      },
      set(this: object, interceptor: unknown) {
        InstanceWiring.set(this, interceptor);
      },
    });
  },

  get(instance: unknown): unknown {
    return (instance as Record<symbol, unknown> | null | undefined)?.[INTERCEPTOR_PROPERTY];
  },

  set(instance: object, value: unknown): void {
    const property = { value, configurable: true, writable: true };
    if (!Reflect.defineProperty(instance, INTERCEPTOR_PROPERTY, property))
      frozen.set(instance, value);
  },

  /** An app has the instance as a value: the last app that has booted serves its calls. */
  share(instance: object, interceptor: unknown): void {
    const before = InstanceWiring.get(instance);
    const all = apps.get(instance) ?? (before === undefined ? [] : [before]);
    if (!all.includes(interceptor)) apps.set(instance, [...all, interceptor]);
    InstanceWiring.set(instance, interceptor);
  },

  /** That app closes: of the others that have the instance, the last one serves its calls. */
  unshare(instance: object, interceptor: unknown): void {
    const others = (apps.get(instance) ?? []).filter((it) => it !== interceptor);
    apps.set(instance, others);
    if (others.length > 0) InstanceWiring.set(instance, others.at(-1));
  },
};
