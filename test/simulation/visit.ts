import type { Lease } from '../../lib/core/lease.js';
import type { ObservedHold } from './observed-hold.js';

/** A lease with the hold that it belongs to, and the visit in the scope of which it was acquired. */
export interface Visit {
  readonly lease: Lease;
  readonly hold: ObservedHold;
  readonly outer?: Visit;
}
