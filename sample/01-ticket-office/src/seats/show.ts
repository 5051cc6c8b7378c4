import type { RushResult } from '../rush/rush-result.js';

/** How many seats the hall has. */
export const SEATS = 100;

/** The state of the sale, as the store knows it. */
export interface Show {
  /** Seats that are still free. */
  readonly left: number;
  /** For each seat, how many tickets were sold for it. More than one is what a lock is there to prevent. */
  readonly tickets: readonly number[];
  /** The rushes that have ended, the latest first. */
  readonly rushes: readonly RushResult[];
}
