import type { LockLostError } from '../core/index.js';
import type { LeaderElectionOptions } from '../interfaces/leader-options.interface.js';
import type { LeadershipDecorator } from './leadership-decorator.js';
import { LeadershipHandlers } from './leadership-handlers.js';

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
