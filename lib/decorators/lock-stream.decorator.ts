import type {
  BusyHandler,
  LockStreamOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockKey, LockTarget } from '../interfaces/lock-key.interface.js';
import { guardMethod } from '../plans/guard-method.js';
import { streamMethod } from '../plans/method-kinds.js';
import type { StreamMethodDecorator } from './decorator-types.js';

/**
 * Holds the lock of that key over the whole life of what the method returns. Each of these locks for itself:
 *
 * - An `Observable`: from the subscription, before the method is run, until completion, error or unsubscription, which for
 *   an HTTP stream is the client's leaving.
 * - An async generator: from the first `next()`, before its body is run, until it has ended, or the consumer has left it, as
 *   `for await` does with `break`. Leaving it before ends the wait. Whoever neither ends nor leaves it keeps the lock.
 *
 * Not granted in time, the stream fails with `LockTimeoutError`; with `onBusy: 'skip'` it completes empty, and with a
 * function it emits what that gives and completes.
 *
 * @param key as for `@WithMutex`
 * @param options with `recipe`, which lock of the key it is; default: the mutex
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
export function LockStream<A extends unknown[] = []>(
  key: LockKey<A>,
  options?: LockStreamOptions<A, 'throw'>,
): StreamMethodDecorator<A>;
export function LockStream<A extends unknown[] = [], R = never>(
  key: LockKey<A>,
  options: LockStreamOptions<A, 'throw' | 'skip' | BusyHandler<A, R>>,
): StreamMethodDecorator<A, Awaited<R>, undefined>;
export function LockStream(
  key: LockKey<never[]>,
  { recipe = 'mutex', permits, ...options }: LockStreamOptions = {},
): StreamMethodDecorator<never[]> {
  const lock = { recipe, key, permits } as LockTarget; // taken apart, they are no pair for the compiler
  return guardMethod(streamMethod, { decorator: 'LockStream', lock, options });
}
