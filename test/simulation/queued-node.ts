/** A node that stands, or stood, in the queue of a lock. */
export interface QueuedNode {
  readonly path: string;
  /** What its recipe calls such nodes, e.g. `lock-`. */
  readonly name: string;
  readonly czxid: number;
  /**
   * Its place: nodes are served in the order of their tokens. The transaction that created it; for a reader that took the
   * number of its own writer, the transaction that created that.
   */
  readonly token: number;
  /** What was written into it when it was made. */
  readonly data: string;
  /** Id of the session it lives with. */
  readonly owner: string;
  /** Since when it is its turn, or was when it went. */
  servedSince?: number;
  /** Was it ever its turn? */
  wasServed: boolean;
  /** Was there a time when it was not its turn? */
  hasWaited: boolean;
  /** When a stranger last wrote to it: that uses up a watch. */
  writtenAt?: number;
  goneAt?: number;
  /** How and when it went by no fault of its owner: a stranger deleted it, or an operator ended its session. */
  taken?: { readonly by: 'stranger' | 'operator'; readonly at: number };
}
