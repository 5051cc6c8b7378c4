import type { LeaderOnlyOptions } from '../interfaces/leader-options.interface.js';
import type { AsyncMethodDecorator } from './decorator-types.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';

/**
 * Runs the method where this app leads the election of that name; elsewhere a call resolves to `undefined` at once, and asks
 * no server. For `@Cron` and `@Interval`, and any other async method of which one replica is to do the work. It does not
 * matter whether it stands above or below them.
 *
 * The app stands for election from the end of its boot to its shutdown, whether there are calls or not. Runs that are under
 * way then keep the leadership, until they end or the lock client closes. In a run, `currentLease()` is the leadership. When
 * that is lost meanwhile, the call rejects with `LockLostError` at the end of the method, unless `onLost` says otherwise.
 *
 * Of `@LockDefaults`, `client` counts.
 *
 * @param name of the election, a text without placeholders; it may not be the key of another kind of lock of the client too
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
  { client, onLost }: LeaderOnlyOptions = {},
): AsyncMethodDecorator<never[]> {
  return guardMethod(() => promiseMethod, {
    decorator: 'LeaderOnly',
    lock: { recipe: 'leaderLatch', key: name },
    options: { client, onBusy: 'skip', onLost },
  });
}
