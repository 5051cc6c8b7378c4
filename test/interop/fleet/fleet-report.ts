/** Result of one run of the fleet. */
export interface FleetReport {
  readonly recipe: string;
  readonly accident: string;
  /** Number of grants by worker. */
  readonly grants: Readonly<Record<string, number>>;
  /** Overlaps, grants out of order, stale leases, as text. */
  readonly faults: readonly string[];
  /** How often a lease reported to its holder that the lock was lost. */
  readonly losses: number;
  /** How often a library threw: the connection was lost, and its retries did not help. */
  readonly failures: number;
  /** What locks left on the servers. */
  readonly before: string;
  readonly after: string;
}
