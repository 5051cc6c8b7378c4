import type { LockLostError, LockTimeoutError, SemaphoreOptions, Wait } from '../core/index.js';
import type { RecipeOptions } from './lock-key.interface.js';

/** Options of `@RunOnce`. Times in whole milliseconds. */
export interface RunOnceOptions {
  /**
   * The longest that one run may keep the others out, from 1 to 2^31 - 1: then its lock is given up, and its `signal` aborts,
   * although the method may still run. Choose it far above what a run takes.
   */
  readonly atMost: number;
  /**
   * The least that one run keeps the others out, from 0 to below `atMost`: more than the clocks of the replicas differ, so that
   * a run that is short is not done again by one whose clock is late.
   *
   * @default 0
   */
  readonly atLeast?: number;
  /**
   * Name of the lock client.
   *
   * @default that of `@LockDefaults`, else 'default'
   */
  readonly client?: string;
}

/** Decides what a call gives that was not granted its lock; it gets the arguments of the call. */
export type BusyHandler<A extends unknown[] = never[], R = unknown> = (
  error: LockTimeoutError,
  ...args: A
) => R;

/** What to do when the lock was not granted in time: see {@link LockMethodOptions.onBusy}. */
export type OnBusy<A extends unknown[] = never[], R = unknown> =
  'throw' | 'skip' | BusyHandler<A, R>;

/** What to do when the lock was lost while the method ran: see {@link LockMethodOptions.onLost}. */
export type OnLost<A extends unknown[] = never[]> =
  'abort' | 'throw' | 'ignore' | ((error: LockLostError, ...args: A) => unknown);

/** Options of the lock decorators, on a method whose arguments begin with `A`. */
export interface LockMethodOptions<A extends unknown[] = never[], B = OnBusy<A>> {
  /**
   * Name of the lock client.
   *
   * @default 'default'
   */
  readonly client?: string;
  /**
   * How long a call may wait for the lock: milliseconds, above 0 and finite, or `'forever'`.
   *
   * @default the `wait` of the client; no waiting, one attempt, when `onBusy` is `'skip'` or a function
   */
  readonly wait?: Wait;
  /**
   * Holds for so long and no longer, on Redis: a whole number of milliseconds from 100, and more than three round trips. The
   * lock is lost a little before its end, as nobody renews it. Elsewhere the session is the lease, and the app does not
   * start.
   *
   * @default the `watchdogTimeout` of the client, renewed for as long as the lock is held
   */
  readonly lease?: number;
  /**
   * What a call does that was not granted the lock in time.
   *
   * - `'throw'`: it rejects with `LockTimeoutError`.
   * - `'skip'`: it resolves to `undefined`, and the method is not run.
   * - A function: the method is not run, and the call settles as the function does.
   *
   * Errors of the method itself never come here, not even the `LockTimeoutError` of another lock.
   *
   * @default 'throw'
   */
  readonly onBusy?: B;
  /**
   * What a call does whose lock was lost while the method ran: from then on somebody else may have held it. No policy can
   * stop the method: let it look at `currentLease()`, or hand the `signal` of that to what it awaits.
   *
   * - `'throw'`: when the method has ended, it rejects with `LockLostError`; where the method itself failed, with that.
   * - `'abort'`: it rejects with `LockLostError` at once. What the method still does is not waited for; its lock is given
   *   back after it.
   * - `'ignore'`: it settles as the method does.
   * - A function: it is called at the loss; the call settles as the method does.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<A>;
}

/** Options of `@Semaphore`, on a method whose arguments begin with `A`. */
export interface SemaphoreMethodOptions<A extends unknown[] = never[], B = OnBusy<A>>
  extends LockMethodOptions<A, B>, SemaphoreOptions {}

/** Options of `@LockStream`, on a method whose arguments begin with `A`. */
export type LockStreamOptions<A extends unknown[] = never[], B = OnBusy<A>> = LockMethodOptions<
  A,
  B
> &
  RecipeOptions;

/**
 * Options of `@LockDefaults`: what the lock decorators of a class are taken to say where they say nothing themselves.
 *
 * With an `onBusy` that gives a result, see to it that the methods promise it: the compiler does not.
 */
export interface LockDefaultsOptions extends LockMethodOptions<unknown[], OnBusy<unknown[]>> {}
