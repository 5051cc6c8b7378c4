import type {
  BusyHandler,
  LockMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKeys } from '../interfaces/lock-key.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method while holding the locks of all those keys. They are acquired in the same order everywhere, so calls that name
 * the same keys in another order cannot deadlock; `wait` bounds the acquisition of all of them together. A duplicate key counts
 * once. If one of the locks is lost, all are.
 *
 * Each is a mutex of the decorator's `client`, unless its entry in the list says otherwise. Otherwise as `@WithMutex`.
 *
 * @param keys keys to lock: a list, or a function of the arguments that returns one
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
export function WithMultiLock<A extends unknown[] = [], R = never, K extends string = string>(
  keys: LockKeys<A, K>,
  options?: LockMethodOptions<A, 'throw' | BusyHandler<A, R>>,
): AsyncMethodDecorator<A, Awaited<R>, K>;
export function WithMultiLock<A extends unknown[] = [], K extends string = string>(
  keys: LockKeys<A, K>,
  options: LockMethodOptions<A, 'throw' | 'skip'>,
): AsyncMethodDecorator<A, undefined, K>;
export function WithMultiLock(
  keys: LockKeys<never[]>,
  given: LockMethodOptions = {},
): AsyncMethodDecorator<never[]> {
  const lock = { recipe: 'multiLock', members: keys } as const;
  const plan = { decorator: 'WithMultiLock', lock, options: givenOptions(given) };
  return guardMethod(() => promiseMethod, plan, given);
}
