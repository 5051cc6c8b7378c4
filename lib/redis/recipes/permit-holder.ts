import { randomBytes } from 'node:crypto';

/** Digits of the part that all permits of one holder have in common. */
const PREFIX = 24;

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
