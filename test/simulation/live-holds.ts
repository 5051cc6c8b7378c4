import type { ObservedHold } from './observed-hold.js';
import type { Visit } from './visit.js';

/** The holds around an acquire in the scope of that visit, innermost first. */
export function liveHolds(visit: Visit | undefined): ObservedHold[] {
  if (visit === undefined) return [];
  const own = visit.lease.isHeld ? [visit.hold] : [];
  const parts = visit.hold.parts.filter(({ lease }) => lease.isHeld).map(({ hold }) => hold);
  return [...own, ...parts, ...liveHolds(visit.outer)];
}
