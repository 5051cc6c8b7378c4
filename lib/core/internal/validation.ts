import { type LockErrorContext, LockKeyError, LockOptionsError } from '../errors/index.js';
import type { AcquireOptions } from '../lock.js';
import { validateOptionNames } from './option-names.js';

const MAX_BYTES = 512;
/** Line breaks and the like, which logs and pages do not show. */
const CONTROL = /\p{Cc}/u;
/** Nothing that can be seen. */
const BLANK = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;
/** An object that was turned into text: a DTO, a Map and its iterators, a promise that was not awaited. */
const OBJECT = /\[object [\w ]+\]/;
/** A missing value that was turned into text, as a whole part of a key. */
const MISSING = /(?:^|[:/|#])(undefined|null|NaN)(?=$|[:/|#])/;
const codeOf = (character: string) =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Checks the requirements of every backend on a key: a string of at most 512 bytes of UTF-8 that is not blank, without control
 * characters and lone surrogates, and without the traces of a value that is missing or an object.
 *
 * @throws LockKeyError
 */
export function validateLockKey(key: unknown, context?: LockErrorContext): asserts key is string {
  if (typeof key !== 'string') throw new LockKeyError(key, 'it must be a string', context);
  if (key === '') throw new LockKeyError(key, 'it is empty', context);
  if (OBJECT.test(key))
    throw new LockKeyError(
      key,
      'an object was turned into text; build the key from its fields',
      context,
    );
  const missing = MISSING.exec(key)?.[1];
  if (missing !== undefined)
    throw new LockKeyError(key, `"${missing}" in it is a value that is missing`, context);
  if (BLANK.test(key)) throw new LockKeyError(key, 'it is blank', context);
  const control = CONTROL.exec(key)?.[0];
  if (control !== undefined)
    throw new LockKeyError(key, `it contains the control character ${codeOf(control)}`, context);
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
/** Shortest lease, in ms. */
const SHORTEST_LEASE = 100;
export const LEASE_RANGE = `whole milliseconds from ${SHORTEST_LEASE} to 2^31 - 1`;

/** Whether it is the length of a lease on Redis. */
export const isLease = (lease: unknown): boolean =>
  Number.isInteger(lease) && (lease as number) >= SHORTEST_LEASE && (lease as number) <= MOST;

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

export function isSignal(signal: unknown): signal is AbortSignal {
  const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/** Options of every acquire; `minLease` is internal. */
const OF_ACQUIRES: readonly string[] = ['wait', 'signal', 'method', 'minLease'];

const NO_LEASE =
  'none: on this backend the session is the lease, and `sessionTimeout` is its length';

/** What to do instead of giving an option that only other locks have. */
const INSTEAD = {
  lease: NO_LEASE,
  maxHold: 'none: only locks on Redis have it',
  permits: 'none: only semaphores have permits',
};

/**
 * Throws {@link LockOptionsError} unless `wait`, `signal` and `method` are valid, and for options that the acquire does not have.
 *
 * @param further names of the options that only this kind of lock has
 */
export function validateAcquireOptions(
  options: AcquireOptions,
  context?: LockErrorContext,
  further: readonly string[] = [],
): void {
  const names = further.length === 0 ? OF_ACQUIRES : [...OF_ACQUIRES, ...further];
  validateOptionNames(options, names, context, INSTEAD);
  const { wait, signal, method } = options;
  if (wait !== undefined && wait !== 'forever' && !(Number.isFinite(wait) && wait > 0))
    throw new LockOptionsError(
      'wait',
      wait,
      wait === 0
        ? 'none, and call `tryAcquire`, which does not wait'
        : "milliseconds above 0, or 'forever' (tryAcquire does not wait)",
      context,
    );
  if (signal !== undefined && !isSignal(signal))
    throw new LockOptionsError('signal', signal, 'an AbortSignal', context);
  if (method !== undefined && typeof method !== 'string')
    throw new LockOptionsError('method', method, 'the name of the caller, as a text', context);
}

/** Throws the `LockOptionsError` of a backend where locks live as long as the session, for what is given. */
export function refuseLease(
  lease: number | undefined,
  maxHold: number | undefined,
  client: string,
): void {
  if (lease !== undefined) throw new LockOptionsError('lease', lease, NO_LEASE, { client });
  if (maxHold !== undefined)
    throw new LockOptionsError('maxHold', maxHold, INSTEAD.maxHold, { client });
}
