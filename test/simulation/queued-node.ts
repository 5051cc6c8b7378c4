/** A node that is, or was, in the queue of a lock. */
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
  /** The data that it was created with. */
  readonly data: string;
  /** Id of the session it lives with. */
  readonly owner: string;
  /** Since when it is in turn, or was when it was removed. */
  servedSince?: number;
  /** Whether it was ever in turn. */
  wasServed: boolean;
  /** Whether there was a time when it was not in turn. */
  hasWaited: boolean;
  /** When another client last wrote to it, which uses up a watch. */
  writtenAt?: number;
  goneAt?: number;
  /** How and when it was removed without its owner: another client deleted it, or an operator ended its session. */
  taken?: { readonly by: 'stranger' | 'operator'; readonly at: number };
}
