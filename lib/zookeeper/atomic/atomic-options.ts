import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { Wait } from '../../core/lock.js';
import type { RetryPolicy } from '../connection/retry-policies.js';

/** The mutex that a distributed atomic number takes when too many change it at the same time; Curator's class of that name. */
export interface PromotedToLock {
  /**
   * Key of the mutex, which everybody who changes the number should share.
   *
   * @default that of the number with `-lock` behind it
   */
  readonly key?: string;
  /**
   * How long to wait for it: milliseconds above 0, or `'forever'`.
   *
   * @default the `wait` of the client
   */
  readonly wait?: Wait;
  /**
   * How often, and after what pauses, it is tried again inside of the mutex.
   *
   * @default as outside of it
   */
  readonly retryPolicy?: RetryPolicy;
}

/** What a change of a distributed atomic number took; Curator's class of that name. */
export interface AtomicStats {
  /** How often it was tried without the lock. */
  readonly optimisticTries: number;
  /** How long that took, in ms. */
  readonly optimisticTimeMs: number;
  /** How often it was tried inside of the lock; 0: it was not needed. */
  readonly promotedLockTries: number;
  /** How long that took, the wait for the lock included, in ms. */
  readonly promotedTimeMs: number;
}

/** What became of a change of a distributed atomic number; Curator's class of that name. Look at `succeeded`. */
export interface AtomicValue<N> {
  /** False: nothing was changed. */
  readonly succeeded: boolean;
  /** What it was before; where nothing was changed, what was seen last. */
  readonly preValue: N;
  /** What it has become; where nothing was changed, `preValue`. */
  readonly postValue: N;
  readonly stats: AtomicStats;
}

/** Options of a distributed atomic number. */
export interface AtomicOptions {
  /**
   * How often, and after what pauses, a change is tried again when another one came in between.
   *
   * @default up to 8 times, after 5 to 100 ms
   */
  readonly retryPolicy?: RetryPolicy;
  /**
   * The mutex to take when that was to no avail, to try again inside of it; false: none.
   *
   * @default one beside the number
   */
  readonly promotedToLock?: PromotedToLock | false;
}

/** @throws LockOptionsError when they are out of their ranges */
export function checkAtomicOptions(options: AtomicOptions, context: LockErrorContext): void {
  const { retryPolicy, promotedToLock = {} } = options;
  checkPolicy('retryPolicy', retryPolicy, context);
  if (promotedToLock === false) return;
  if (typeof promotedToLock !== 'object' || promotedToLock === null) {
    const expected = 'an object with `key`, `wait` and `retryPolicy`, or false';
    throw new LockOptionsError('promotedToLock', promotedToLock, expected, context);
  }
  validateAcquireOptions({ wait: promotedToLock.wait }, context);
  checkPolicy('promotedToLock.retryPolicy', promotedToLock.retryPolicy, context);
}

function checkPolicy(
  option: string,
  policy: RetryPolicy | undefined,
  context: LockErrorContext,
): void {
  if (policy === undefined || typeof policy?.nextDelay === 'function') return;
  throw new LockOptionsError(option, policy, 'a retry policy', context);
}
