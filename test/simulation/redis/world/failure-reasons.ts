import type { Request } from './observed-calls.js';

/** A client that finds out late that its primary was demoted takes that for the reason of what fails then, for so long, in ms. */
const REMEMBERED = 2_000;

/** Of a call on a client that is closed, other than an acquire. */
const CLOSED = 'Error: Connection is closed.';

/**
 * The codes of the errors with which the request may fail.
 *
 * @param strictSince since when nothing that faults have left is in the way
 */
export function reasonsToFail(
  { client, wait, isTry, abortedAt, startedAt }: Request,
  strictSince: number,
): string[] {
  return [
    ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
    ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
    ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED', CLOSED] : []),
    ...(startedAt < Math.max(strictSince, client.connectedAt + REMEMBERED)
      ? ['LOCK_CONNECTION']
      : []),
  ];
}
