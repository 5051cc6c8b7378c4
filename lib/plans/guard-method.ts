import { Inject } from '@nestjs/common';
import { LockDecoratorTargetError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { INTERCEPTOR_PROPERTY, LOCK_INTERCEPTOR } from '../lock.constants.js';
import { validateDecoratorOptions } from './decorator-options.js';
import { definePlan, withMethodInErrors } from './define-plan.js';
import { methodTarget } from './decorator-target.js';
import { InstanceWiring } from './instance-wiring.js';
import type { MethodKind } from './method-kinds.js';
import { LockPlans } from './plan-metadata.js';

/**
 * Wraps a method at class definition so that every call goes through the `LockInterceptor` of its instance, regardless of the
 * caller and of how the instance was created. All lock decorators are built on this; only this handles descriptors.
 *
 * Nest injects the interceptor as a property of each instance. Without it a call fails: it never runs unlocked.
 *
 * @param options of the decorator, as they were given
 */
export function guardMethod(
  kindOf: (method: unknown, returns: unknown) => MethodKind,
  lock: Omit<LockPlan, 'method'>,
  options: unknown = lock.options,
) {
  return (target: object, name: string | symbol, descriptor?: PropertyDescriptor): void => {
    const { method, isStatic } = methodTarget(lock.decorator, target, name);
    const original: unknown = descriptor?.value;
    const returns: unknown = Reflect.getMetadata('design:returntype', target, name);
    const kind = withMethodInErrors({ ...lock, method }, () => kindOf(original, returns));
    const refuse = (why: string): never => {
      throw new LockDecoratorTargetError(lock.decorator, method, why, kind.hint);
    };

    if (isStatic) refuse('it is static, and only instances are given a lock client');
    if (descriptor === undefined || typeof original !== 'function')
      return refuse('it is not a method');
    const mismatch = kind.mismatch(original, returns);
    if (mismatch !== undefined) refuse(mismatch);

    withMethodInErrors({ ...lock, method }, () =>
      validateDecoratorOptions(lock.decorator, options),
    );
    const plan = definePlan({ ...lock, method });
    const guarded = new Proxy(original, {
      apply: (fn, self, args) => kind.call(self, plan, args, () => Reflect.apply(fn, self, args)),
    });
    copyMetadata(original, guarded);
    const isFirst = !LockPlans.has(target);
    if (isFirst) {
      Inject(LOCK_INTERCEPTOR)(target, INTERCEPTOR_PROPERTY);
      InstanceWiring.prepare(target);
    }
    LockPlans.add(target, name, guarded, plan);
    descriptor.value = guarded;
  };
}

/** Copies the own Reflect metadata of `from` to `to`: a wrapped method keeps its routes, guards, schedules and the like. */
function copyMetadata(from: object, to: object): void {
  for (const key of Reflect.getOwnMetadataKeys(from))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to);
}
