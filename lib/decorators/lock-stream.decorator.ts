import type { OnBusy } from '../interfaces/lock-method-options.interface.js';
import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { LockStreamOptions } from '../interfaces/lock-stream-options.interface.js';
import type { LockTarget } from '../interfaces/lock-target.interface.js';
import { guardMethod } from './guard-method.js';
import { observableMethod } from './observable-method.js';
import type { StreamMethodDecorator } from './stream-method-decorator.js';

/**
 * Holds the lock of that key over the whole life of the `Observable` that the method returns: from the subscription,
 * before the method is run, until completion, error or unsubscription, which for an HTTP stream is the client's leaving.
 * Every subscription locks for itself.
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
 * ```
 */
export function LockStream<A extends unknown[] = [], R = never>(
  key: LockKey<A>,
  options?: LockStreamOptions<A, OnBusy<A, R>>,
): StreamMethodDecorator<A, Awaited<R>>;
export function LockStream(
  key: LockKey<never[]>,
  { recipe = 'mutex', permits, ...options }: LockStreamOptions = {},
): StreamMethodDecorator<never[]> {
  const lock = { recipe, key, permits } as LockTarget; // taken apart, they are no pair for the compiler
  return guardMethod(observableMethod, { decorator: 'LockStream', lock, options });
}
