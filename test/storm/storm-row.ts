import type { Contention } from './contend.js';
import type { StormReport } from './storm-report.js';

/** What one fault has caused. Counts are since the beginning of the storm. */
export interface StormRow {
  readonly fault: string;
  /** Number of the server in the ensemble. */
  readonly server: number;
  /** The states that the process reported, each with the milliseconds since the fault. */
  readonly states: readonly { readonly ms: number; readonly state: string }[];
  /** An expected loss of the connection was reported. */
  readonly isNoticed: boolean;
  readonly isSessionKept: boolean;
  readonly report: StormReport;
  /** Number of grants to the rival. */
  readonly rival: Contention;
  /** How often two were inside. */
  readonly violations: number;
}
