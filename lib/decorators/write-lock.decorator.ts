import type {
  BusyHandler,
  LockMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method while holding the write lock of that key: exclusively, without other writers and without `@ReadLock` methods
 * of the same key. A nested call with the same key re-enters, and a nested `@ReadLock` is a downgrade.
 *
 * Inside a `@ReadLock` method of the same key a call rejects with `LockUpgradeError`, at once and whatever `onBusy` says: it
 * would wait for its own caller. Otherwise as `@WithMutex`.
 *
 * @param key as for `@WithMutex`; it must not also be the key of a mutex or a semaphore
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @WriteLock('prices')
 * async reprice(): Promise<void> { … }
 * ```
 */
export function WriteLock<A extends unknown[] = [], R = never>(
  key: LockKey<A>,
  options?: LockMethodOptions<A, 'throw' | BusyHandler<A, R>>,
): AsyncMethodDecorator<A, Awaited<R>>;
export function WriteLock<A extends unknown[] = []>(
  key: LockKey<A>,
  options: LockMethodOptions<A, 'throw' | 'skip'>,
): AsyncMethodDecorator<A, undefined>;
export function WriteLock(
  key: LockKey<never[]>,
  options: LockMethodOptions = {},
): AsyncMethodDecorator<never[]> {
  const lock = { recipe: 'writeLock', key } as const;
  return guardMethod(() => promiseMethod, { decorator: 'WriteLock', lock, options });
}
