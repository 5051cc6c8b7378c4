import type { LeaderElectionOptions } from './leader-election-options.interface.js';
import type { OnLost } from './lock-method-options.interface.js';

/** Options of `@LeaderOnly`, on a method whose arguments begin with `A`. */
export interface LeaderOnlyOptions<A extends unknown[] = never[]> extends LeaderElectionOptions {
  /**
   * What a call does whose leadership was lost while the method ran: see `LockMethodOptions.onLost`.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<A>;
}
