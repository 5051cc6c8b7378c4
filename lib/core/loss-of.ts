import { LockLostError } from './errors/index.js';
import type { Lease } from './lease.js';

/** Why a lease was lost, if it was: the clock is asked, not only events. That it was given back by hand is no loss. */
export function lossOf(lease: Lease): LockLostError | undefined {
  try {
    lease.assertHeld();
  } catch (error) {
    if (error instanceof LockLostError) return error;
  }
  return undefined;
}
