import type { Term } from './claim-history.js';

/** Result of an election of Node and Java processes of which the leaders were killed and frozen. */
export interface ElectionReport {
  readonly terms: readonly Term[];
  readonly claims: number;
  /** As text. */
  readonly faults: readonly string[];
  /** Older claims of frozen Java processes, which only the token reveals. */
  readonly unknowing: number;
  readonly kills: number;
  readonly freezes: number;
  /** How long there was no leader after each of them, in ms. */
  readonly vacancies: readonly number[];
  /** Whether all candidates stood in the end, and saw the same leader. */
  readonly isWhole: boolean;
  /** Nodes that were left after all had closed. */
  readonly leftBehind: readonly string[];
}
