import type { Leadership, LockLostError } from '../core/index.js';
import type { LeaderElectionOptions } from '../interfaces/leader-options.interface.js';
import { LeadershipHandlers } from '../plans/leadership-handlers.js';
import type { LeadershipDecorator } from './decorator-types.js';

/**
 * Calls the method with the `Leadership` whenever this app begins to lead the election of that name; the `signal` of the
 * `Leadership` aborts when it ends. Only for singleton providers and controllers: on any other, the app does not start.
 *
 * The method is not awaited: the app leads until it leaves the election, whether the method has ended or not. Errors that it
 * throws or rejects with are logged. It is not called before the app is up. Where its module is loaded lazily while the app
 * leads, it is called at once.
 *
 * @param name as for `@LeaderOnly`
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @OnLeadership('mailer')
 * async begin({ signal }: Leadership): Promise<void> { … }
 * ```
 */
export function OnLeadership(
  name: string,
  options: LeaderElectionOptions = {},
): LeadershipDecorator<[leadership: Leadership]> {
  return LeadershipHandlers.define('OnLeadership', name, options);
}

/**
 * Calls the method whenever this app stops leading the election of that name: with the reason, or without one when the app
 * shuts down. Otherwise as `@OnLeadership`.
 *
 * @param name as for `@LeaderOnly`
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @OnLeadershipLost('mailer')
 * end(reason?: LockLostError): void { … }
 * ```
 */
export function OnLeadershipLost(
  name: string,
  options: LeaderElectionOptions = {},
): LeadershipDecorator<[reason: LockLostError | undefined]> {
  return LeadershipHandlers.define('OnLeadershipLost', name, options);
}
