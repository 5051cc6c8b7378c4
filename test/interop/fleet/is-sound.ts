import type { FleetReport } from './fleet-report.js';

/** True if there is no fault, all workers were served, and nothing is left behind. */
export function isSound({ faults, grants, before, after }: FleetReport): boolean {
  return (
    faults.length === 0 && Object.values(grants).every((count) => count > 0) && before === after
  );
}
