import type { Term } from './claim-history.js';

/** What came of an election of Node and Java processes whose leaders were killed and frozen. */
export interface ElectionReport {
  readonly terms: readonly Term[];
  readonly claims: number;
  /** In words. */
  readonly faults: readonly string[];
  /** Older claims of frozen Java processes, which only the token tells. */
  readonly unknowing: number;
  readonly kills: number;
  readonly freezes: number;
  /** How long nobody led after each of them, in ms. */
  readonly vacancies: readonly number[];
  /** Whether all candidates stood in the end, with one leader in the eyes of all. */
  readonly isWhole: boolean;
  /** Nodes that were left when all had closed. */
  readonly leftBehind: readonly string[];
}
