import { sortKey } from './queue-order.js';

/** What follows the UUID in the names of a semaphore's leases, as in Curator. */
export const LEASE_NAME = 'lease-';

/**
 * May the leases `own` be granted: are there, up to the last of them, no more than `permits`? `undefined` when one of
 * them is not there.
 *
 * Curator grants while there are no more than `permits` children in all. This allows all of that, and is as safe: of
 * more holders than permits, whoever holds the lease with the highest number would have seen all others before it. But it
 * also decides between two who came at the same time. A child that is no lease takes a permit, as in Curator.
 */
export function leaseTurn(
  children: readonly string[],
  own: readonly string[],
  permits: number,
): boolean | undefined {
  const there = new Set(children);
  if (own.some((name) => !there.has(name))) return undefined;
  const keys = children.map((name) => sortKey(name, LEASE_NAME));
  const last = own
    .map((name) => sortKey(name, LEASE_NAME))
    .sort()
    .at(-1)!;
  const standing = keys.filter((key) => key <= last || !/^\d{10}$/.test(key));
  return standing.length <= permits;
}
