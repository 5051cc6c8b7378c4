import { LockKeyError, type LockErrorContext } from './errors/index.js';

const MAX_BYTES = 512;

/**
 * Checks what every backend needs of a key: a non-empty string of at most 512 bytes of UTF-8, without NUL and without
 * lone surrogates.
 *
 * @throws LockKeyError
 */
export function validateLockKey(key: unknown, context?: LockErrorContext): asserts key is string {
  if (typeof key !== 'string') throw new LockKeyError(key, 'it must be a string', context);
  if (key === '') throw new LockKeyError(key, 'it is empty', context);
  if (key === '[object Object]')
    throw new LockKeyError(
      key,
      'an object was turned into text; build the key from its fields',
      context,
    );
  if (key.includes('\0')) throw new LockKeyError(key, 'it contains a NUL character', context);
  if (!key.isWellFormed()) throw new LockKeyError(key, 'it contains a lone surrogate', context);
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_BYTES)
    throw new LockKeyError(key, `it takes ${bytes} bytes, the most is ${MAX_BYTES}`, context);
}
