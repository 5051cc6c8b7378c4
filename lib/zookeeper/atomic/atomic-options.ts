import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { Wait } from '../../core/lock.js';
import type { RetryPolicy } from '../connection/retry-policies.js';

/** The mutex that a distributed atomic number acquires after too many conflicting changes; Curator's class of that name. */
export interface PromotedToLock {
  /**
   * Key of the mutex; all clients that change the number should share it.
   *
   * @default that of the number with `-lock` behind it
   */
  readonly key?: string | undefined;
  /**
   * How long to wait for the mutex: milliseconds above 0, or `'forever'`.
   *
   * @default the `wait` of the client
   */
  readonly wait?: Wait | undefined;
  /**
   * How often, and after what pauses, a change is retried inside of the mutex.
   *
   * @default as outside of it
   */
  readonly retryPolicy?: RetryPolicy | undefined;
}

/** Attempts and time that a change of a distributed atomic number took; Curator's class of that name. */
export interface AtomicStats {
  /** Number of attempts without the lock. */
  readonly optimisticTries: number;
  /** Time that these attempts took, in ms. */
  readonly optimisticTimeMs: number;
  /** Number of attempts inside of the lock; 0 if it was not needed, or not acquired in time. */
  readonly promotedLockTries: number;
  /** Time that these attempts took, including the wait for the lock, in ms. */
  readonly promotedTimeMs: number;
}

/** Outcome of a change of a distributed atomic number; Curator's class of that name. Check `succeeded`. */
export interface AtomicValue<N> {
  /** False if nothing was changed. */
  readonly succeeded: boolean;
  /** Value before the change; if nothing was changed, the value seen last. */
  readonly preValue: N;
  /** Value after the change; if nothing was changed, `preValue`. */
  readonly postValue: N;
  readonly stats: AtomicStats;
}

/** Options of a distributed atomic number. */
export interface AtomicOptions {
  /**
   * How often, and after what pauses, a change is retried when another one came in between.
   *
   * @default up to 8 times, after 5 to 100 ms
   */
  readonly retryPolicy?: RetryPolicy | undefined;
  /**
   * The mutex to acquire when these retries have failed, to try again inside of it; false for none.
   *
   * @default one beside the number
   */
  readonly promotedToLock?: PromotedToLock | false | undefined;
}

/** @throws LockOptionsError when an option is out of range */
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
