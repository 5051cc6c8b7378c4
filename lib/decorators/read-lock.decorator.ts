import type {
  BusyHandler,
  LockMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method while holding the read lock of that key: concurrently with other readers, and never while a `@WriteLock`
 * method of the same key runs. Requests are served in order of arrival, so a reader waits for a writer that is already queued.
 *
 * Inside a `@WriteLock` method of the same key it is granted at once, and remains held when that method ends: a downgrade. The
 * other way round, the call of the writer rejects with `LockUpgradeError`. Otherwise as `@WithMutex`.
 *
 * @param key as for `@WithMutex`; it must not also be the key of a mutex or a semaphore
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @ReadLock('prices')
 * async quote(order: Order): Promise<Quote> { … }
 * ```
 */
export function ReadLock<A extends unknown[] = [], R = never>(
  key: LockKey<A>,
  options?: LockMethodOptions<A, 'throw' | BusyHandler<A, R>>,
): AsyncMethodDecorator<A, Awaited<R>>;
export function ReadLock<A extends unknown[] = []>(
  key: LockKey<A>,
  options: LockMethodOptions<A, 'throw' | 'skip'>,
): AsyncMethodDecorator<A, undefined>;
export function ReadLock(
  key: LockKey<never[]>,
  options: LockMethodOptions = {},
): AsyncMethodDecorator<never[]> {
  const lock = { recipe: 'readLock', key } as const;
  return guardMethod(() => promiseMethod, { decorator: 'ReadLock', lock, options });
}
