import { withMethodInErrors, validateLockMethodOptions } from '../plans/define-plan.js';
import type { LockDefaultsOptions } from '../interfaces/lock-method-options.interface.js';
import { LockDefaultsMetadata, LockPlans } from '../plans/plan-metadata.js';

/**
 * Options for all lock decorators of a class, and of its subclasses. Those of a method win over those of its class, and
 * those of a subclass over those of the class above, one by one; a method that is inherited has the options of the class
 * that its instance is of.
 *
 * @throws LockOptionsError at class definition, naming the class, or the method whose options do not go together with them
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
  return (target) => {
    const about = { decorator: 'LockDefaults', method: target.name || '(anonymous class)' };
    withMethodInErrors(about, () => validateLockMethodOptions(options));
    const prototype = target.prototype as object;
    LockDefaultsMetadata.define(prototype, options);
    LockPlans.of(Object.create(prototype) as object); // checks what they are with each of the methods
  };
}
