import type { OnLost } from './lock-method-options.interface.js';

/** A method that is called when its app gains or loses leadership. Created and checked once, at class definition. */
export interface LeadershipHandler {
  readonly decorator: 'OnLeadership' | 'OnLeadershipLost';
  /** Class and method, e.g. `Jobs.begin`. */
  readonly method: string;
  /** Property key of the method. */
  readonly property: string | symbol;
  /** Name of the election. */
  readonly election: string;
  /** Name of the lock client, if the decorator specifies it. */
  readonly client?: string;
}

/** Options that identify an election together with its name. */
export interface LeaderElectionOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'; for decorators that of `@LockDefaults`, where there is one
   */
  readonly client?: string | undefined;
}

/** Options of `@LeaderOnly`, for a method with arguments that begin with `A`. */
export interface LeaderOnlyOptions<A extends unknown[] = never[]> extends LeaderElectionOptions {
  /**
   * What a call does if its leadership was lost while the method ran: see `LockMethodOptions.onLost`.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<A> | undefined;
}
