import { isObservable } from 'rxjs';
import { LockDecoratorTargetError } from '../core/index.js';
import { interceptorOf } from '../interceptors/interceptor-of.js';
import { completePlan } from './complete-plan.js';
import type { MethodShape } from './method-shape.js';
import { tagOf } from './tag-of.js';

const advice =
  'Make it an async method, or use @LockStream on an Observable or an async generator.';

/** `Object` is written down for every interface and union. */
const mayBePromise = (type: unknown): boolean =>
  type === undefined ||
  type === Object ||
  typeof (type as { prototype?: { then?: unknown } }).prototype?.then === 'function';

/** Is this work that has yet to be done, and would be without the lock? */
const isLazy = (result: unknown): boolean =>
  typeof result === 'object' &&
  result !== null &&
  (isObservable(result) || tagOf(result).endsWith('Generator'));

/** A method that returns a promise: the lock is held until that settles. */
export const promiseMethod: MethodShape = {
  advice,

  mismatch(method, returns) {
    const tag = tagOf(method);
    if (tag === 'AsyncFunction') return undefined;
    if (tag !== 'Function') return 'it is a generator, whose body runs after the call';
    return mayBePromise(returns) ? undefined : 'it does not return a promise';
  },

  // Async, so that whatever is wrong is a rejection.
  async call(self, plan, args, proceed) {
    const result = await interceptorOf(self, plan.method).around(
      completePlan(self, plan),
      args,
      proceed,
    );
    if (!isLazy(result)) return result;
    const why = 'it gave a stream, whose work would be done without the lock';
    throw new LockDecoratorTargetError(plan.decorator, plan.method, why, advice);
  },
};
