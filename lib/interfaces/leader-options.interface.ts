import type { OnLost } from './lock-method-options.interface.js';

/** A method that is told of the leadership of its app. Made once, at class definition, and checked there. */
export interface LeadershipHandler {
  readonly decorator: 'OnLeadership' | 'OnLeadershipLost';
  /** Class and method, e.g. `Jobs.begin`. */
  readonly method: string;
  /** The method. */
  readonly property: string | symbol;
  /** Name of the election. */
  readonly election: string;
  /** Name of the lock client, where the decorator says it. */
  readonly client?: string;
}

/** Which election of a name it is. */
export interface LeaderElectionOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'; for decorators that of `@LockDefaults`, where there is one
   */
  readonly client?: string;
}

/** Options of `@LeaderOnly`, on a method whose arguments begin with `A`. */
export interface LeaderOnlyOptions<A extends unknown[] = never[]> extends LeaderElectionOptions {
  /**
   * What a call does whose leadership was lost while the method ran: see `LockMethodOptions.onLost`.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<A>;
}
