import type { LockLostError, LockTimeoutError, Wait } from '../core/index.js';

/** Decides what a call gives that was not granted its lock; it gets the arguments of the call. */
export type BusyHandler<A extends unknown[] = never[], R = unknown> = (
  error: LockTimeoutError,
  ...args: A
) => R;

/** What to do when the lock was not granted in time: see {@link LockMethodOptions.onBusy}. */
export type OnBusy<A extends unknown[] = never[], R = unknown> =
  'throw' | 'skip' | BusyHandler<A, R>;

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
   * Called when the lock is lost while the method runs: from now on somebody else may hold it. The method is not
   * stopped: let it look at `currentLease()`, or hand the `signal` of that to what it awaits.
   */
  readonly onLost?: (error: LockLostError, ...args: A) => unknown;
}
