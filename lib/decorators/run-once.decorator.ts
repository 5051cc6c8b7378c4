import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { RunOnceOptions } from '../interfaces/lock-method-options.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Of all replicas that call the method at about the same time, one runs it; the calls of the others resolve to `undefined` at
 * once. For `@Cron` and `@Interval`, and anything else that every replica is told to do. It does not matter whether it stands
 * above or below them.
 *
 * The name stays taken until the method has ended, and for `atLeast` ms from its start; `atMost` ms after the start it is given
 * up, whatever the method does, a warning is logged, and the call rejects with `LockLostError` when the method has ended. Where
 * the process dies, others go on when its session or lease is over. After an end before `atLeast`, the name stays taken on
 * Redis although the process ends; elsewhere it is then free.
 *
 * The server is waited for 5 s, or `atLeast` where that is longer; then the call rejects with `LockTimeoutError`.
 *
 * A run is not reentrant: a call of the same name inside of it is skipped too.
 *
 * @param name as the key of `@WithMutex`; it may not be the key of another kind of lock too
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @Cron('0 3 * * *')
 * @RunOnce('nightly-report', { atMost: 3_600_000, atLeast: 60_000 })
 * async report() { … }
 * ```
 */
export function RunOnce<A extends unknown[] = []>(
  name: LockKey<A>,
  options: RunOnceOptions,
): AsyncMethodDecorator<A, undefined>;
export function RunOnce(
  name: LockKey<never[]>,
  { atMost, atLeast = 0, client }: Partial<RunOnceOptions> = {},
): AsyncMethodDecorator<never[]> {
  return guardMethod(() => promiseMethod, {
    decorator: 'RunOnce',
    lock: { recipe: 'semaphoreMutex', key: name },
    options: { client, onBusy: 'skip' },
    once: { atMost: atMost!, atLeast }, // checked with the rest
  });
}
