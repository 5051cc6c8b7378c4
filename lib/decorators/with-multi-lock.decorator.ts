import type {
  BusyHandler,
  LockMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKeys } from '../interfaces/lock-key.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method while it holds the locks of all those keys. They are taken in one order wherever they are used, so
 * calls that name the same keys in another order cannot wait for each other in a circle; `wait` bounds them all together.
 * A key that comes twice counts once. When one of the locks is lost, all are.
 *
 * Each is a mutex of the decorator's `client`, unless its member of the list says otherwise. Otherwise as `@WithMutex`.
 *
 * @param keys what to lock: a list of keys, or a function of the arguments that gives one
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @WithMultiLock((from: Account, to: Account) => [`account:${from.id}`, `account:${to.id}`])
 * async transfer(from: Account, to: Account, amount: number) { … }
 *
 * @WithMultiLock(['stock', { key: 'prices', recipe: 'readLock' }, { key: 'ledger', client: 'bank' }])
 * async close() { … }
 * ```
 */
export function WithMultiLock<A extends unknown[] = [], R = never>(
  keys: LockKeys<A>,
  options?: LockMethodOptions<A, 'throw' | BusyHandler<A, R>>,
): AsyncMethodDecorator<A, Awaited<R>>;
export function WithMultiLock<A extends unknown[] = []>(
  keys: LockKeys<A>,
  options: LockMethodOptions<A, 'throw' | 'skip'>,
): AsyncMethodDecorator<A, undefined>;
export function WithMultiLock(
  keys: LockKeys<never[]>,
  options: LockMethodOptions = {},
): AsyncMethodDecorator<never[]> {
  const lock = { recipe: 'multiLock', members: keys } as const;
  return guardMethod(() => promiseMethod, { decorator: 'WithMultiLock', lock, options });
}
