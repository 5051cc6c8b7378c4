import {
  LockDecoratorTargetError,
  LockInterceptorMissingError,
  LockOptionsError,
} from '../core/index.js';
import type { StreamKind } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { InstanceWiring } from './instance-wiring.js';
import { dispose, isAsyncIterable, isLazy, isObservableLike } from './lazy-result.js';
import { type Around, lockedGenerator, lockedObservable } from './locked-stream.js';
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
    self?: unknown,
  ): Promise<unknown>;
}

/** Runs `flow` under the lock of the plan. */
function runLocked(
  self: unknown,
  plan: LockPlan,
  args: unknown[],
  flow: () => unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const interceptor = interceptorOf(self, plan.method);
  return interceptor.around(withClassDefaults(self as object, plan), args, flow, signal, self);
}

const advice =
  'Make it an async method, or use @LockStream on an Observable or an async generator.';

/** The compiler records `Object` for interfaces and unions, `Function` for `import type`, and nothing without an annotation. */
const isUnknown = (type: unknown): boolean => [undefined, Object, Function].includes(type as never);
const has = (type: unknown, method: PropertyKey): boolean =>
  typeof (type as { prototype?: Record<PropertyKey, unknown> }).prototype?.[method] === 'function';

/** A method that returns a promise: the lock is held until it settles. */
export const promiseMethod: MethodKind = {
  hint: advice,

  mismatch(method, returns) {
    const tag = builtinTag(method);
    if (tag === 'AsyncFunction') return undefined;
    if (tag !== 'Function') return 'it is a generator, and its body runs after the call';
    return isUnknown(returns) || has(returns, 'then') ? undefined : 'it does not return a promise';
  },

  async call(self, plan, args, proceed) {
    const result = await runLocked(self, plan, args, proceed);
    if (!isLazy(result)) return result;
    dispose(result);
    const why = 'it returned a stream, and the stream would do its work without the lock';
    return refuse(plan, why, `${advice} A handle that needs no lock can be returned in an object.`);
  },
};

const streamHint =
  'Let it return an Observable, make it an async generator, or use @WithMutex on an async method.';
const names = { observable: 'an Observable', generator: 'an async generator' };

const streamKindOf = (result: unknown): StreamKind | undefined => {
  if (isObservableLike(result)) return 'observable';
  return isAsyncIterable(result) ? 'generator' : undefined;
};

/** What a call of a stream method returns: the lock is held from the subscription, or the first value asked for, to the end. */
type OpenStream = (around: Around, plan: LockPlan, proceed: () => unknown) => object;

const observable: OpenStream = (around, plan, proceed) =>
  lockedObservable(around, () => {
    const result = proceed();
    return isObservableLike(result) ? result : refuseResult(plan, result, 'observable');
  });

const generator: OpenStream = (around, plan, proceed) =>
  lockedGenerator(around, () => {
    const result = proceed();
    return isAsyncIterable(result) ? result : refuseResult(plan, result, 'generator');
  });

/** A stream of either kind: the method determines which, and it runs under the lock only, which is after its call returned. */
const either: OpenStream = (...method) =>
  Object.assign(observable(...method), generator(...method));

function refuseResult(plan: LockPlan, result: unknown, used: StreamKind): never {
  dispose(result);
  const kind = streamKindOf(result);
  const what = kind === undefined ? 'no stream' : names[kind];
  const verb = kind === 'observable' ? 'Subscribe to it' : 'Iterate it';
  const advice = kind === undefined ? streamHint : `${verb}, or give the option \`as: '${kind}'\`.`;
  return refuse(plan, `it returned ${what}, and the result was used as ${names[used]}`, advice);
}

/**
 * The kind of a stream method. A decorator below, or the compiler, may have made an async generator a plain function, so that
 * what it returns is known only when it has run.
 *
 * @param as what the user says that it returns
 */
export function streamMethod(as?: StreamKind) {
  /** @throws LockOptionsError */
  return (method: unknown, returns: unknown): MethodKind => {
    if (as !== undefined && as !== 'observable' && as !== 'generator')
      throw new LockOptionsError('as', as, "'observable' or 'generator'");
    const found = kindOf(method, returns);
    const open = { observable, generator, unknown: either }[as ?? found ?? 'unknown'];
    return {
      hint: streamHint,
      mismatch() {
        if (found === undefined) return 'it does not return an Observable';
        if (found === 'unknown' || as === undefined || found === as) return undefined;
        return `it returns ${names[found]}, and \`as\` says '${as}'`;
      },
      call: (self, plan, args, proceed) =>
        open(async (flow, left) => await runLocked(self, plan, args, flow, left), plan, proceed),
    };
  };
}

/** What a method returns, as far as it is known before a call; `undefined` if no stream. */
function kindOf(method: unknown, returns: unknown): StreamKind | 'unknown' | undefined {
  const tag = builtinTag(method);
  if (tag === 'AsyncGeneratorFunction') return 'generator';
  if (tag !== 'Function') return undefined;
  if (isUnknown(returns)) return 'unknown';
  return has(returns, 'subscribe') ? 'observable' : undefined;
}

function refuse({ decorator, method }: LockPlan, why: string, advice: string): never {
  throw new LockDecoratorTargetError(decorator, method, why, advice);
}

/** The name of the built-in kind of a value: `AsyncFunction`, `Generator`, … It sees through a Proxy. */
function builtinTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/**
 * The interceptor that was injected into `instance`.
 *
 * @throws LockInterceptorMissingError when there is none: the instance was not created by Nest, or does not exist, or has a mock
 */
function interceptorOf(instance: unknown, method: string): MethodInterceptor {
  const interceptor = InstanceWiring.get(instance) as Partial<MethodInterceptor> | undefined;
  if (typeof interceptor?.around !== 'function')
    throw new LockInterceptorMissingError(method, instance, interceptor);
  return interceptor as MethodInterceptor;
}
