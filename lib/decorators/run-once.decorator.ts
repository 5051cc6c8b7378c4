import type { LockKey } from '../interfaces/lock-key.interface.js';
import type { RunOnceOptions } from '../interfaces/lock-method-options.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Of all replicas that call the method at about the same time, one runs it; the calls on the others resolve to `undefined` at
 * once. For `@Cron`, `@Interval` and anything else that is triggered on every replica. Its position above or below them does
 * not matter.
 *
 * The lock of the name is held until the method has ended, and for `atLeast` ms from its start. `atMost` ms after the start it
 * is released even if the method still runs: a warning is logged, and the call rejects with `LockLostError` when the method has
 * ended. If the process dies, other replicas can run it when its session or lease has expired. After a run that ended before
 * `atLeast`, the lock stays held on Redis even if the process exits; on other backends it is then free.
 *
 * A call waits for the server for 5 s, or for `atLeast` if that is longer; then it rejects with `LockTimeoutError`. It also
 * rejects when it is granted the lock later than `atLeast` after the call: another replica may have run the method by then.
 * With an `atLeast` of 0, a call runs whenever it finds the lock free.
 *
 * With an `occurrence`, each occurrence begins at most once, whatever the clocks and delays of the replicas.
 *
 * A run is not reentrant: a call of the same name inside it is skipped too.
 *
 * @param name as the key of `@WithMutex`; it must not also be the key of another kind of lock
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @Cron('0 3 * * *')
 * @RunOnce('nightly-report', { atMost: 3_600_000, occurrence: '0 3 * * *' })
 * async report() { … }
 * ```
 */
export function RunOnce<A extends unknown[] = [], K extends string = string>(
  name: LockKey<A, K>,
  options: RunOnceOptions,
): AsyncMethodDecorator<A, undefined, K>;
export function RunOnce(
  name: LockKey<never[]>,
  given: Partial<RunOnceOptions> = {},
): AsyncMethodDecorator<never[]> {
  const { atMost, atLeast = 0, occurrence, client } = givenOptions(given);
  const plan = {
    decorator: 'RunOnce',
    lock: { recipe: 'semaphoreMutex', key: name },
    options: { client, onBusy: 'skip' },
    once: { atMost: atMost!, atLeast, occurrence }, // checked with the rest
  } as const;
  return guardMethod(() => promiseMethod, plan, given);
}
