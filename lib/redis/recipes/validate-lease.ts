import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';

/** The shortest lease, in ms. */
const SHORTEST = 100;
/** What the server takes. */
const LONGEST = 2 ** 31 - 1;

/**
 * @param roundTrip ms; a lease must leave time for three
 * @throws LockOptionsError
 */
export function validateLease(
  option: string,
  lease: unknown,
  context: LockErrorContext,
  roundTrip = 0,
): void {
  const isInRange =
    Number.isInteger(lease) && (lease as number) >= SHORTEST && (lease as number) <= LONGEST;
  if (!isInRange)
    throw new LockOptionsError(
      option,
      lease,
      `whole milliseconds from ${SHORTEST} to 2^31 - 1`,
      context,
    );
  if ((lease as number) < 3 * roundTrip)
    throw new LockOptionsError(
      option,
      lease,
      `more than three round trips to the server, which takes ${Math.ceil(roundTrip)} ms for one`,
      context,
    );
}
