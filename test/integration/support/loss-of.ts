import type { Lease } from '../../../lib/core/lease.js';
import { toldAt } from '../../support/told-at.js';

/** Resolves when the lease is lost, to the time of that in ms since 1970, as a server on this machine has it. */
export function lossOf({ signal }: Lease): Promise<number> {
  return toldAt((told) => {
    if (signal.aborted) return told();
    signal.addEventListener('abort', told, { once: true });
  });
}
