import { defer, isObservable, type ObservableInput } from 'rxjs';
import { LockDecoratorTargetError, LockInterceptorMissingError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { INTERCEPTOR_PROPERTY } from '../lock.constants.js';
import { generateUnderLock, streamUnderLock } from './locked-stream.js';
import { withClassDefaults } from './plan-metadata.js';

/** Kind of a locked method by its result, which determines how a call runs under the lock. */
export interface MethodKind {
  /** Advice for a method that does not have this shape. */
  readonly hint: string;
  /**
   * Reason why a method does not have this shape, as far as it can be detected before a call.
   *
   * @param returns the return type that the compiler has recorded, if any
   */
  mismatch(method: object, returns: unknown): string | undefined;
  /** Calls the method, `proceed`, under the lock of `plan`. */
  call(self: unknown, plan: LockPlan, args: unknown[], proceed: () => unknown): unknown;
}

/** The part of `LockInterceptor` that a method needs; the class itself is a layer above the plans. */
interface MethodInterceptor {
  around(
    plan: LockPlan,
    args: unknown[],
    proceed: () => unknown,
    signal?: AbortSignal,
  ): Promise<unknown>;
}

const advice =
  'Make it an async method, or use @LockStream on an Observable or an async generator.';

/** The compiler records `Object` for every interface and union. */
const mayBePromise = (type: unknown): boolean =>
  type === undefined ||
  type === Object ||
  typeof (type as { prototype?: { then?: unknown } }).prototype?.then === 'function';

/** True if the result is work that has yet to be done, and would be done without the lock. */
const isLazy = (result: unknown): boolean =>
  typeof result === 'object' &&
  result !== null &&
  (isObservable(result) || builtinTag(result).endsWith('Generator'));

/** A method that returns a promise: the lock is held until it settles. */
export const promiseMethod: MethodKind = {
  hint: advice,

  mismatch(method, returns) {
    const tag = builtinTag(method);
    if (tag === 'AsyncFunction') return undefined;
    if (tag !== 'Function') return 'it is a generator, and its body runs after the call';
    return mayBePromise(returns) ? undefined : 'it does not return a promise';
  },

  // Async, so that every error is a rejection.
  async call(self, plan, args, proceed) {
    const result = await interceptorOf(self, plan.method).around(
      withClassDefaults(self, plan),
      args,
      proceed,
    );
    if (!isLazy(result)) return result;
    const why = 'it returned a stream, and the stream would do its work without the lock';
    throw new LockDecoratorTargetError(plan.decorator, plan.method, why, advice);
  },
};

/** The compiler records `Object` for every interface and union. */
const mayBeObservable = (type: unknown): boolean =>
  type === undefined ||
  type === Object ||
  typeof (type as { prototype?: { subscribe?: unknown } }).prototype?.subscribe === 'function';

/** A method that returns an Observable: the lock is held from the subscription to its end. */
const observableMethod: MethodKind = {
  hint: 'Let it return an Observable, make it an async generator, or use @WithMutex on an async method.',

  mismatch(method, returns) {
    if (builtinTag(method) === 'Function' && mayBeObservable(returns)) return undefined;
    return 'it does not return an Observable';
  },

  // Deferred, so that every error fails the stream.
  call: (self, plan, args, proceed) =>
    defer(() => {
      const interceptor = interceptorOf(self, plan.method);
      const complete = withClassDefaults(self, plan);
      return streamUnderLock(
        (flow, signal) => interceptor.around(complete, args, flow, signal),
        proceed as () => ObservableInput<unknown>,
      );
    }),
};

/** An async generator: the lock is held from the first requested value to its end. */
const asyncGeneratorMethod: MethodKind = {
  hint: 'Make it an async generator, or use @WithMutex on an async method.',

  mismatch: () => undefined, // already selected by its kind

  // Every error rejects the request for the first value.
  call: (self, plan, args, proceed) =>
    generateUnderLock(
      async (flow, signal) =>
        await interceptorOf(self, plan.method).around(
          withClassDefaults(self, plan),
          args,
          flow,
          signal,
        ),
      proceed as () => AsyncGenerator,
    ),
};

/** The kind of a stream method: async generator or Observable. */
export function streamMethod(method: unknown): MethodKind {
  const isGenerator =
    typeof method === 'function' && builtinTag(method) === 'AsyncGeneratorFunction';
  return isGenerator ? asyncGeneratorMethod : observableMethod;
}

/** The name of the built-in kind of a value: `AsyncFunction`, `Generator`, … It sees through a Proxy. */
function builtinTag(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/**
 * The interceptor that was injected into `instance`.
 *
 * @throws LockInterceptorMissingError when there is none: the instance was not created by Nest, or does not exist
 */
function interceptorOf(instance: unknown, method: string): MethodInterceptor {
  const interceptor = (
    instance as { [INTERCEPTOR_PROPERTY]?: MethodInterceptor } | null | undefined
  )?.[INTERCEPTOR_PROPERTY];
  if (interceptor === undefined) throw new LockInterceptorMissingError(method);
  return interceptor;
}
