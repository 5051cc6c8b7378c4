import { LockOptionsError, type LockErrorContext } from './errors/index.js';

const MOST = 2 ** 31 - 1;

/** Throws {@link LockOptionsError} for `option` unless `permits` is a whole number from 1 to `most`. */
export function validatePermits(
  permits: unknown,
  context?: LockErrorContext,
  most = MOST,
  option = 'permits',
): void {
  if (Number.isInteger(permits) && (permits as number) >= 1 && (permits as number) <= most) return;
  const range = most === MOST ? 'from 1' : `from 1 to ${most}, as many as the semaphore has`;
  throw new LockOptionsError(option, permits, `a whole number ${range}`, context);
}
