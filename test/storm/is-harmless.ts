import type { StormRow } from './storm-row.js';

/** Maximum time that a request may be without an outcome: two session timeouts, in ms. */
const LONGEST_PENDING = 12_000;

/** Whether the process survived it unharmed. */
export function isHarmless({ isNoticed, isSessionKept, report, violations }: StormRow): boolean {
  const isKept = isSessionKept && report.isLeaseKept;
  const isServed = report.foreign.hung === 0 && report.oldestPending < LONGEST_PENDING;
  return isNoticed && isKept && isServed && violations === 0;
}
