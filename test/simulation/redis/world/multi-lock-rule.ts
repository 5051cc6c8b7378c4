import type { MultiLease } from '../../../../lib/core/internal/multi-lease.js';

/**
 * A multi-lock is lost in the moment in which a part of it is, and not before.
 *
 * @param isKept whether its holder has not begun to release it
 */
export function watchWhole(
  { signal, leases }: MultiLease,
  isKept: () => boolean,
  accuse: (what: string) => void,
): void {
  for (const part of leases)
    part.signal.addEventListener('abort', () => {
      if (!signal.aborted && isKept()) accuse('outlives a part of it');
    });
  signal.addEventListener('abort', () => {
    if (leases.every(({ isHeld }) => isHeld)) accuse('is lost, and none of its parts is');
  });
}
