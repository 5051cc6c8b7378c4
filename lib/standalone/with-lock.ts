import type { CallContext } from '../calls/call-context.js';
import { MethodLock } from '../calls/method-lock.js';
import { type LockClient, LockOptionsError } from '../core/index.js';
import type { LockKey, LockTarget, RecipeOptions } from '../interfaces/lock-key.interface.js';
import type {
  BusyHandler,
  LockMethodOptions,
  OnBusy,
} from '../interfaces/lock-method-options.interface.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { givenOptions, validateDecoratorOptions } from '../plans/decorator-options.js';
import { definePlan, naming, withMethodInErrors } from '../plans/define-plan.js';
import { dispose, isLazy } from '../plans/lazy-result.js';

/** Options of `withLock`, for a function with arguments that begin with `A`: those of the decorators, and a kind of lock. */
export type WithLockOptions<A extends unknown[] = never[], B = OnBusy<A>> = Omit<
  LockMethodOptions<A, B>,
  'client'
> &
  RecipeOptions & {
    /** The client of the lock. */
    readonly client: LockClient;
  };

/** There is no logger without Nest. */
const logger: CallContext['logger'] = {
  warn: (message) => process.emitWarning(message),
  error: (message, error) => process.emitWarning(`${message}: ${String(error)}`),
};

/**
 * Returns a function that runs `fn` while holding the lock of that key: of all calls with the same key, in all processes on the
 * same servers, one runs at a time; or as many as `recipe` admits. For functions what `@WithMutex` is for methods: with its
 * `wait`, `onBusy` and `onLost`, and re-entry of nested calls. `this` and the arguments are handed on.
 *
 * A call rejects with `LockTimeoutError` if it is not granted the lock, unless `onBusy` says otherwise; with `LockLostError` if
 * the lock was lost meanwhile, unless `onLost` does; with `LockKeyError` if its key cannot name a lock; and otherwise as
 * `Lock.acquire` and `fn` do.
 *
 * @param fn what it returns is awaited under the lock; a stream, which would do its work later, is refused
 * @param key a string, with placeholders like `'order:{0.id}'`, or a function of the arguments
 * @throws LockOptionsError, LockKeyError naming the function
 *
 * @example
 * ```ts
 * const pay = withLock(payOrder, (order) => `order:${order.id}`, { client: locks, wait: 5_000 });
 * await pay(order);
 * ```
 */
export function withLock<A extends unknown[], T, R = never>(
  fn: (...args: A) => T,
  key: LockKey<A>,
  options: WithLockOptions<A, 'throw' | BusyHandler<A, R>>,
): (...args: A) => Promise<Awaited<T> | Awaited<R>>;
export function withLock<A extends unknown[], T>(
  fn: (...args: A) => T,
  key: LockKey<A>,
  options: WithLockOptions<A, 'throw' | 'skip'>,
): (...args: A) => Promise<Awaited<T> | undefined>;
export function withLock(
  fn: (...args: never[]) => unknown,
  key: LockKey<never[]>,
  given: WithLockOptions,
): (...args: never[]) => Promise<unknown> {
  const { client, recipe, permits, fair, fenced, handOff, ...options } = givenOptions(given);
  const lock = { recipe, key, permits, fair, fenced, handOff } as LockTarget;
  const plan: LockPlan = { decorator: 'withLock', method: nameOf(fn), lock, options };
  withMethodInErrors(plan, () => {
    if (typeof fn !== 'function') throw new LockOptionsError('fn', fn, 'a function');
    if (!isClient(client)) throw new LockOptionsError('client', client, 'a lock client');
    validateDecoratorOptions('withLock', given);
  });
  const locked = new MethodLock(definePlan(plan), {
    clients: { get: () => client!, policiesOf: () => ({}) },
    logger,
  });
  return async function (this: unknown, ...args) {
    const proceed = () => fn.apply(this, args);
    const result = await locked.run({ self: this, args, proceed });
    if (!isLazy(result)) return result;
    dispose(result);
    const expected = 'one that returns no stream, which would do its work without the lock';
    throw naming(plan, new LockOptionsError('fn', fn, expected));
  };
}

const nameOf = (fn: unknown): string =>
  (typeof fn === 'function' && fn.name) || 'a function without a name';

const isClient = (value: unknown): boolean =>
  typeof (value as Partial<LockClient> | null | undefined)?.mutex === 'function';
