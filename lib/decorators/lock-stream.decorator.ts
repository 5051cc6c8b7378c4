import type {
  BusyHandler,
  LockStreamOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKey, LockTarget } from '../interfaces/lock-key.interface.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { streamMethod } from '../plans/method-kinds.js';
import type { StreamMethodDecorator } from './decorator-types.js';

/**
 * Holds the lock of that key for the whole lifetime of the returned stream. Each subscription and each generator acquires its
 * own lock:
 *
 * - An `Observable`: from the subscription, before the method runs, until completion, error or unsubscription (for an HTTP
 *   stream, the disconnect of the client).
 * - An async generator: from the first `next()`, before its body runs, until it has ended or the consumer has left it, as
 *   `for await` does with `break`. Leaving it before the grant ends the wait. A generator that is neither finished nor left
 *   keeps the lock. So it is with a method that returns another async iterator: give it `as: 'generator'`.
 *
 * Of a method that is not seen to return the one or the other, as of a generator compiled for ES2017 or below another decorator,
 * the result can be used as either. Used as what the method does not return, it fails with `LockDecoratorTargetError`. Where
 * other code distinguishes the kinds by the result, as Nest does with that of a handler, give the option `as`.
 *
 * If the lock is not granted in time, the stream fails with `LockTimeoutError`; with `onBusy: 'skip'` it completes empty; with
 * a function it emits the result of the function and completes.
 *
 * @param key as for `@WithMutex`
 * @param options with `recipe`, the kind of lock of the key; default: the mutex; and `as`, the kind of stream
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @Sse('reports/:id')
 * @LockStream((id: string) => `report:${id}`, { wait: 5_000 })
 * follow(@Param('id') id: string): Observable<MessageEvent> { … }
 *
 * @LockStream('export')
 * async *export(): AsyncGenerator<Row> { … }
 * ```
 */
export function LockStream<A extends unknown[] = [], K extends string = string>(
  key: LockKey<A, K>,
  options?: LockStreamOptions<A, 'throw'>,
): StreamMethodDecorator<A, never, never, K>;
export function LockStream<A extends unknown[] = [], R = never, K extends string = string>(
  key: LockKey<A, K>,
  options: LockStreamOptions<A, 'throw' | 'skip' | BusyHandler<A, R>>,
): StreamMethodDecorator<A, Awaited<R>, undefined, K>;
export function LockStream(
  key: LockKey<never[]>,
  given: LockStreamOptions = {},
): StreamMethodDecorator<never[]> {
  const { recipe = 'mutex', permits, fair, fenced, handOff, as, ...options } = givenOptions(given);
  const lock = { recipe, key, permits, fair, fenced, handOff } as LockTarget; // once destructured, the compiler no longer relates them
  return guardMethod(streamMethod(as), { decorator: 'LockStream', lock, options }, given);
}
