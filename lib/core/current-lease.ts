import type { Lease } from './lease.js';
import { LeaseChain } from './lease-chain.js';

/**
 * The lease of the innermost lock around the running code: of `using`, `run` or a decorated method. `undefined` outside.
 * It may have been lost or released since: look at `isHeld`, `signal` or `assertHeld()`.
 */
export function currentLease(): Lease | undefined {
  return LeaseChain.current();
}
