import { randomBytes } from 'node:crypto';
import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';

/** Digits of the part that all permits of one holder have in common. */
const PREFIX = 24;

/** Permits of one acquire at most: the server looks at each of them at each renewal, and does nothing else meanwhile. */
const MOST_AT_ONCE = 10_000;

/** @throws LockOptionsError for more permits than one acquire may ask for */
export function validatePermitsAtOnce(permits: number, context: LockErrorContext): void {
  if (permits <= MOST_AT_ONCE) return;
  const range = `a whole number from 1 to ${MOST_AT_ONCE}: count in larger units`;
  throw new LockOptionsError('permits', permits, range, context);
}

/** Who has so many permits: as an id of a permit, but with how many in the place of which one. */
export function newPermitHolder(permits: number): string {
  return randomBytes(12).toString('hex') + digits(permits);
}

/** The ids of the permits, each 16 bytes in hexadecimal digits. */
export function permitIdsOf(holder: string): string[] {
  const count = parseInt(holder.slice(PREFIX), 16);
  return Array.from({ length: count }, (_, i) => holder.slice(0, PREFIX) + digits(i));
}

const digits = (n: number) => n.toString(16).padStart(8, '0');
