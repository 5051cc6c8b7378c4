/** What the page shows. */
export interface LiveView {
  /** For each seat, how many tickets were sold for it. */
  readonly tickets: readonly number[];
  /** Numbers in the queue of the lock, in the order of service. The first one holds the lock. */
  readonly queue: readonly number[];
  readonly isRushing: boolean;
}
