import type {
  BusyHandler,
  SemaphoreMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method while holding one permit of the semaphore of that key: of all calls with the same key, in all processes on
 * the same servers, at most `permits` run at a time. Otherwise as `@WithMutex`.
 *
 * It is not reentrant: a nested call with the same key acquires another permit, and waits for its own caller if that holds the
 * last one. Give nested calls a `wait`.
 *
 * @param key as for `@WithMutex`; it must not also be the key of another kind of lock
 * @param options `permits` must be the same wherever the semaphore is used, in every process
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @Semaphore('render', { permits: 3, wait: 30_000 })
 * async render(page: Page): Promise<Buffer> { … }
 * ```
 */
export function Semaphore<A extends unknown[] = [], R = never, K extends string = string>(
  key: LockKey<A, K>,
  options: SemaphoreMethodOptions<A, 'throw' | BusyHandler<A, R>>,
): AsyncMethodDecorator<A, Awaited<R>, K>;
export function Semaphore<A extends unknown[] = [], K extends string = string>(
  key: LockKey<A, K>,
  options: SemaphoreMethodOptions<A, 'throw' | 'skip'>,
): AsyncMethodDecorator<A, undefined, K>;
export function Semaphore(
  key: LockKey<never[]>,
  given: Partial<SemaphoreMethodOptions> = {},
): AsyncMethodDecorator<never[]> {
  const { permits, fair, ...options } = givenOptions(given);
  const lock = { recipe: 'semaphore', key, permits: permits!, fair } as const; // checked with the rest
  return guardMethod(() => promiseMethod, { decorator: 'Semaphore', lock, options }, given);
}
