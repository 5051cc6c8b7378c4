import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

let count = 0;
let isRising = true;

/**
 * From now on, random ids are numbers in the order of their creation, or in the reverse order: so a run can be repeated, and nodes that
 * are ordered by their ids alone come in one order or the other.
 */
export function numberIds(order: 'rising' | 'falling'): void {
  count = 0;
  isRising = order === 'rising';
  if (crypto.randomUUID === numbered) return;
  crypto.randomUUID = numbered;
  syncBuiltinESMExports();
}

function numbered(): ReturnType<typeof crypto.randomUUID> {
  count += 1;
  const digits = String(isRising ? count : 10 ** 12 - count).padStart(12, '0');
  return `00000000-0000-4000-8000-${digits}`;
}
