/** What the server knows of a znode. */
export interface Stat {
  /** Transaction that created it: grows over the whole ensemble, below 2^53 for two million elections. */
  readonly czxid: number;
  /** When that was, by the clock of the servers; the embedded tree does not keep it. */
  readonly ctime?: Date;
  /** Transaction that changed it last. */
  readonly mzxid: number;
  /** Number of changes to its data. */
  readonly version: number;
  /** Id of the session it lives with, in lower-case hex without leading zeros; `0` when it is not ephemeral. */
  readonly ephemeralOwner: string;
  readonly numChildren: number;
}
