import { type LockErrorContext, LockKeyError, LockOptionsError } from '../errors/index.js';
import type { AcquireOptions } from '../lock.js';

const MAX_BYTES = 512;

/**
 * Checks the requirements of every backend on a key: a non-empty string of at most 512 bytes of UTF-8, without NUL and without
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
    throw new LockKeyError(
      key,
      `it takes ${bytes} bytes, and the maximum is ${MAX_BYTES}`,
      context,
    );
}

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

/** Throws {@link LockOptionsError} unless `wait` and `signal` are valid. */
export function validateAcquireOptions(options: AcquireOptions, context?: LockErrorContext): void {
  const { wait, signal } = options;
  if (wait !== undefined && wait !== 'forever' && !(Number.isFinite(wait) && wait > 0))
    throw new LockOptionsError(
      'wait',
      wait,
      "milliseconds above 0, or 'forever' (tryAcquire does not wait)",
      context,
    );
  if (signal !== undefined && typeof signal?.aborted !== 'boolean')
    throw new LockOptionsError('signal', signal, 'an AbortSignal', context);
}

/** Throws the `LockOptionsError` of a backend where locks live as long as the session. */
export function refuseLease(lease: number, client: string): never {
  throw new LockOptionsError(
    'lease',
    lease,
    'none: on this backend the session is the lease, and `sessionTimeout` is its length',
    { client },
  );
}
