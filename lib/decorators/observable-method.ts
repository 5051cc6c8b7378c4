import { defer, type ObservableInput } from 'rxjs';
import { interceptorOf } from '../interceptors/interceptor-of.js';
import { streamUnderLock } from '../interceptors/stream-under-lock.js';
import { completePlan } from './complete-plan.js';
import type { MethodShape } from './method-shape.js';
import { tagOf } from './tag-of.js';

/** `Object` is written down for every interface and union. */
const mayBeObservable = (type: unknown): boolean =>
  type === undefined ||
  type === Object ||
  typeof (type as { prototype?: { subscribe?: unknown } }).prototype?.subscribe === 'function';

/** A method that returns an Observable: the lock is held from the subscription to its end. */
export const observableMethod: MethodShape = {
  advice:
    'Let it return an Observable, make it an async generator, or use @WithMutex on an async method.',

  mismatch(method, returns) {
    if (tagOf(method) === 'Function' && mayBeObservable(returns)) return undefined;
    return 'it does not return an Observable';
  },

  // Deferred, so that whatever is wrong fails the stream.
  call: (self, plan, args, proceed) =>
    defer(() => {
      const interceptor = interceptorOf(self, plan.method);
      const complete = completePlan(self, plan);
      return streamUnderLock(
        (flow, signal) => interceptor.around(complete, args, flow, signal),
        proceed as () => ObservableInput<unknown>,
      );
    }),
};
