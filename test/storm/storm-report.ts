import type { Contention } from './contend.js';

/** State of the process in the storm. */
export interface StormReport {
  readonly session: string;
  /** The lease that it holds all the time is held, its signal has not aborted, and its node exists. */
  readonly isLeaseKept: boolean;
  readonly answered: number;
  readonly failed: number;
  /** Age of the oldest request without an outcome, in ms. */
  readonly oldestPending: number;
  readonly foreign: { readonly opened: number; readonly hung: number };
  readonly contention: Contention;
  /** How often it entered where another process was inside. */
  readonly violations: number;
}
