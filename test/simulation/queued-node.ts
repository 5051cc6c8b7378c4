/** A node that stands, or stood, in the queue of a lock. */
export interface QueuedNode {
  readonly path: string;
  readonly czxid: number;
  /** Id of the session it lives with. */
  readonly owner: string;
  /** Were there others when it was created? They are ahead of it. */
  readonly hadOthersAhead: boolean;
  /** Since when it was the first of the queue, if it ever was. */
  firstSince?: number;
  /** When a stranger last wrote to it: that uses up a watch. */
  writtenAt?: number;
  goneAt?: number;
  /** How and when it went by no fault of its owner: a stranger deleted it, or an operator ended its session. */
  taken?: { readonly by: 'stranger' | 'operator'; readonly at: number };
}
