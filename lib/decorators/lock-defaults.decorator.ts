import { classTarget } from '../plans/decorator-target.js';
import { validateDecoratorOptions } from '../plans/decorator-options.js';
import { withMethodInErrors, validateLockMethodOptions } from '../plans/define-plan.js';
import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import { LockDefaultsMetadata, LockPlans } from '../plans/plan-metadata.js';

/**
 * Options for all lock decorators of a class and of its subclasses. Each option of a method overrides that of its class, and
 * each option of a subclass that of its superclass. An inherited method has the options of the class of its instance.
 *
 * @throws LockOptionsError at class definition, naming the class, or the method with options that conflict with them
 *
 * @example
 * ```ts
 * @Injectable()
 * @LockDefaults({ client: 'orders', wait: 5_000 })
 * class Orders {
 *   @WithMutex('order:{0}')
 *   async pay(id: string) { … }
 * }
 * ```
 */
export function LockDefaults(options: LockDefaultsOptions): ClassDecorator {
  return (target: NewableFunction, name?: string | symbol) => {
    const decorator = 'LockDefaults';
    const about = { decorator, method: classTarget(decorator, target, name) };
    withMethodInErrors(about, () => {
      validateDecoratorOptions('LockDefaults', options);
      validateLockMethodOptions(options);
    });
    const prototype = target.prototype as object;
    LockDefaultsMetadata.define(prototype, options);
    LockPlans.of(Object.create(prototype) as object); // checks them together with the options of each method
  };
}
