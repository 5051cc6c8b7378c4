import type { Contention } from './contend.js';
import type { StormReport } from './storm-report.js';

/** What one fault has done. Counts are since the beginning of the storm. */
export interface StormRow {
  readonly fault: string;
  /** Number of the server in the ensemble. */
  readonly server: number;
  /** The states that the process told, each with the milliseconds since the fault. */
  readonly states: readonly { readonly ms: number; readonly state: string }[];
  /** A loss of the connection that had to come was told. */
  readonly isNoticed: boolean;
  readonly isSessionKept: boolean;
  readonly report: StormReport;
  /** What the rival has got. */
  readonly rival: Contention;
  /** How often two were inside. */
  readonly violations: number;
}
