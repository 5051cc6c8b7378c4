import { LockOptionsError } from '../../../core/errors/index.js';

/** Throws `LockOptionsError` unless `value` is a finite number of at least `least`. */
export function checkRange(option: string, value: number, least = 0): void {
  if (!Number.isFinite(value) || value < least)
    throw new LockOptionsError(option, value, `a finite number of at least ${least}`);
}
