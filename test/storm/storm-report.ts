import type { Contention } from './contend.js';

/** How the process in the storm is. */
export interface StormReport {
  readonly session: string;
  /** The lease that it holds all the time is held, its signal silent, and its node there. */
  readonly isLeaseKept: boolean;
  readonly answered: number;
  readonly failed: number;
  /** Age of the oldest request without an outcome, in ms. */
  readonly oldestPending: number;
  readonly foreign: { readonly opened: number; readonly hung: number };
  readonly contention: Contention;
  /** How often it came in where somebody else was. */
  readonly violations: number;
}
