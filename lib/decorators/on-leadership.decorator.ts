import type { Leadership, LockLostError } from '../core/index.js';
import type { LeaderElectionOptions } from '../interfaces/leader-options.interface.js';
import { LeadershipHandlers } from '../plans/leadership-handlers.js';
import type { LeadershipDecorator } from './decorator-types.js';

/**
 * Has the method called whenever this app begins to lead the election of that name, with the `Leadership`: its `signal` aborts
 * when it ends. On providers and controllers that are singletons; the app does not start where it stands on others.
 *
 * Nobody waits for it: the app leads until it leaves, whether the method has ended or not. What it throws or rejects with is
 * logged. Not called before the app is up.
 *
 * @param name as of `@LeaderOnly`
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
 * Has the method called whenever this app leads the election of that name no longer: with the reason, or without when the app
 * shuts down. Otherwise as `@OnLeadership`.
 *
 * @param name as of `@LeaderOnly`
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
