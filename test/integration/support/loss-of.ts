import type { Lease } from '../../../lib/core/lease.js';

/** Resolves when the lease is lost, to the time of that in ms since 1970, as a server on this machine has it. */
export function lossOf({ signal }: Lease): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(Date.now());
    signal.addEventListener('abort', () => resolve(Date.now()), { once: true });
  });
}
