import { LockOptionsError } from '../../core/errors/index.js';

/** @throws LockOptionsError unless it is a number of that size, and a timer can take it */
export function validateDelay(option: string, value: unknown, least: number): void {
  const isInRange = typeof value === 'number' && value >= least && value < 2 ** 31;
  if (!isInRange) throw new LockOptionsError(option, value, `a number from ${least} to 2^31`);
}
