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
