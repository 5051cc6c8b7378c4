import { randomBytes } from 'node:crypto';
import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';

/** Number of hexadecimal digits that all permit ids of one holder have in common. */
const PREFIX = 24;

/** Maximum number of permits per acquire: each renewal checks every one of them, and blocks the server meanwhile. */
const MOST_AT_ONCE = 10_000;

/** @throws LockOptionsError for more permits than one acquire may ask for */
export function validatePermitsAtOnce(permits: number, context: LockErrorContext): void {
  if (permits <= MOST_AT_ONCE) return;
  const range = `a whole number from 1 to ${MOST_AT_ONCE}: count in larger units`;
  throw new LockOptionsError('permits', permits, range, context);
}

/** Id of a holder of `permits` permits: like a permit id, but with the number of permits in place of the permit's index. */
export function newPermitHolder(permits: number): string {
  return randomBytes(12).toString('hex') + digits(permits);
}

/** Ids of the holder's permits, each 16 bytes in hexadecimal digits. */
export function permitIdsOf(holder: string): string[] {
  const count = parseInt(holder.slice(PREFIX), 16);
  return Array.from({ length: count }, (_, i) => holder.slice(0, PREFIX) + digits(i));
}

const digits = (n: number) => n.toString(16).padStart(8, '0');
