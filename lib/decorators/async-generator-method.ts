import { generateUnderLock } from '../interceptors/generate-under-lock.js';
import { interceptorOf } from '../interceptors/interceptor-of.js';
import { completePlan } from './complete-plan.js';
import type { MethodShape } from './method-shape.js';

/** An async generator: the lock is held from the first value that is asked for to its end. */
export const asyncGeneratorMethod: MethodShape = {
  advice: 'Make it an async generator, or use @WithMutex on an async method.',

  mismatch: () => undefined, // it was chosen for its kind

  // Whatever is wrong comes with the first value.
  call: (self, plan, args, proceed) =>
    generateUnderLock(
      async (flow, signal) =>
        await interceptorOf(self, plan.method).around(completePlan(self, plan), args, flow, signal),
      proceed as () => AsyncGenerator,
    ),
};
