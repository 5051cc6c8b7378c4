import type { RushResult } from '../rush/rush-result.js';

/** What the page shows. */
export interface LiveView {
  /** For each seat, how many tickets were sold for it. */
  readonly tickets: readonly number[];
  /** Numbers of those who want the lock, in the order of service, as far as the servers know. The first one holds it. */
  readonly queue: readonly number[];
  readonly isRushing: boolean;
  /** The rushes that have ended, those of the terminal included, the latest first. */
  readonly rushes: readonly RushResult[];
}
