/** What came of one run of the fleet. */
export interface FleetReport {
  readonly recipe: string;
  readonly accident: string;
  /** By worker. */
  readonly grants: Readonly<Record<string, number>>;
  /** Overlaps, grants out of order, stale leases, in words. */
  readonly faults: readonly string[];
  /** How often a holder was told by its lease that the lock was lost. */
  readonly losses: number;
  /** How often a library threw: the connection was lost, and its retries did not help. */
  readonly failures: number;
  /** What locks have left on the servers. */
  readonly before: string;
  readonly after: string;
}
