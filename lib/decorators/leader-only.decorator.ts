import type { LeaderOnlyOptions } from '../interfaces/leader-options.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method if this app leads the election of that name; otherwise a call resolves to `undefined` at once, without a
 * request to a server. For `@Cron`, `@Interval` and any other async method that only one replica should run. Its position above
 * or below them does not matter.
 *
 * The app stands for election from the end of its boot to its shutdown, whether there are calls or not. Runs in progress at
 * shutdown keep the leadership until they end or the lock client closes. Inside a run, `currentLease()` is the leadership. If
 * it is lost during the run, the call rejects with `LockLostError` when the method has ended, unless `onLost` says otherwise.
 *
 * Of `@LockDefaults`, only `client` applies.
 *
 * @param name of the election, a string without placeholders; it must not also be the key of another kind of lock of the client
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @Cron('* * * * *')
 * @LeaderOnly('mailer')
 * async sendMails(): Promise<void> { … }
 * ```
 */
export function LeaderOnly<A extends unknown[] = []>(
  name: string,
  options?: LeaderOnlyOptions<A>,
): AsyncMethodDecorator<A, undefined>;
export function LeaderOnly(
  name: string,
  given: LeaderOnlyOptions = {},
): AsyncMethodDecorator<never[]> {
  const { client, onLost } = givenOptions(given);
  const plan = {
    decorator: 'LeaderOnly',
    lock: { recipe: 'leaderLatch', key: name },
    options: { client, onBusy: 'skip', onLost },
  } as const;
  return guardMethod(() => promiseMethod, plan, given);
}
