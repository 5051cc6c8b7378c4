import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';

/** A little below what the servers accept in one request by default; they hang up on whoever sends more. */
const MOST = 1_000_000;

/** A copy of the bytes. @throws LockOptionsError when there are too many, or it is something else */
export function valueBytes(option: string, value: unknown, context: LockErrorContext): Buffer {
  const isBytes = value instanceof Uint8Array;
  if (isBytes && value.length <= MOST) return Buffer.from(value);
  const shown = isBytes ? `${value.length} bytes` : value;
  throw new LockOptionsError(option, shown, 'a Uint8Array of up to 1,000,000 bytes', context);
}
