import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';

/** @throws LockOptionsError unless it is a whole number of 32 bits */
export function checkInt32(option: string, value: unknown, context: LockErrorContext): void {
  if (Number.isInteger(value) && (value as number) === ((value as number) | 0)) return;
  throw new LockOptionsError(option, value, 'a whole number from -2^31 to 2^31 - 1', context);
}
