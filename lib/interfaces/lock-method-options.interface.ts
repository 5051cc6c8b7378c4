import type {
  LockLostError,
  LockTimeoutError,
  MutexOptions,
  SemaphoreOptions,
  Wait,
} from '../core/index.js';
import type { RecipeOptions } from './lock-key.interface.js';

/** A cron expression, in a time zone. */
export interface CronOccurrence {
  readonly cron: string;
  /** @default that of the process */
  readonly timeZone?: string | undefined;
}

/**
 * How a call of `@RunOnce` finds out which occurrence of its job it belongs to; see {@link RunOnceOptions.occurrence}.
 *
 * - A number: an interval in ms, counted from 1970. With 60,000, each minute of the clock is an occurrence.
 * - A text, or `{ cron, timeZone }`: a cron expression, the same as that of `@Cron`. It needs the package `cron`, which
 *   `@nestjs/schedule` brings along.
 * - A function: it returns the time of the occurrence, as a `Date` or in ms since 1970, for the time of the call. That time is
 *   100 ms ahead, as timers may fire early.
 */
export type Occurrence = number | string | CronOccurrence | ((now: Date) => Date | number);

/** Options of `@RunOnce`. Times in whole milliseconds. */
export interface RunOnceOptions {
  /**
   * Maximum time for which one run excludes the others, from 1 to 2^31 - 1: then its lock is released and its `signal` aborts,
   * although the method may still run. Choose it far above the duration of a run.
   */
  readonly atMost: number;
  /**
   * Minimum time for which one run excludes the others, from 0 to below `atMost`. Choose more than the clocks of the replicas
   * differ, so that a short run is not repeated by a replica with a late clock. A call that is granted the lock later than that
   * after it was made runs nothing. With 0, nothing is promised about two calls at about the same time.
   *
   * @default 0
   */
  readonly atLeast?: number | undefined;
  /**
   * Which occurrence of the job a call belongs to, by the clock of its replica. The latest one that has begun is remembered on
   * the servers, and a call of that one or of an earlier one is skipped: so no occurrence begins twice, also where clocks differ
   * or a replica is late.
   *
   * An occurrence whose run failed or died is not repeated. Calls reject with `LockOptionsError` if the clock is more than an
   * hour ahead of that of the servers.
   *
   * @default none: only `atLeast` keeps replicas apart that come one after the other
   */
  readonly occurrence?: Occurrence | undefined;
  /**
   * Name of the lock client.
   *
   * @default that of `@LockDefaults`, else 'default'
   */
  readonly client?: string | undefined;
}

/** Determines the result of a call that was not granted its lock; it receives the arguments of the call. */
export type BusyHandler<A extends unknown[] = never[], R = unknown> = (
  error: LockTimeoutError,
  ...args: A
) => R;

/** What to do if the lock was not granted in time: see {@link LockMethodOptions.onBusy}. */
export type OnBusy<A extends unknown[] = never[], R = unknown> =
  'throw' | 'skip' | BusyHandler<A, R>;

/** What to do if the lock was lost while the method ran: see {@link LockMethodOptions.onLost}. */
export type OnLost<A extends unknown[] = never[]> =
  'abort' | 'throw' | 'ignore' | ((error: LockLostError, ...args: A) => unknown);

/** Options of the lock decorators, for a method with arguments that begin with `A`. */
export interface LockMethodOptions<A extends unknown[] = never[], B = OnBusy<A>> {
  /**
   * Name of the lock client.
   *
   * @default 'default'
   */
  readonly client?: string | undefined;
  /**
   * Maximum time that a call waits for the lock: milliseconds, above 0 and finite, or `'forever'`.
   *
   * @default the `wait` of the client; no waiting, one attempt, when `onBusy` is `'skip'` or a function
   */
  readonly wait?: Wait | undefined;
  /**
   * Fixed lease time on Redis: a whole number of milliseconds from 100, and more than three round trips. It is not renewed, so
   * the lock is lost shortly before the lease ends. On other backends the session is the lease, and the app does not start with
   * this option.
   *
   * @default the `watchdogTimeout` of the client, renewed for as long as the lock is held
   */
  readonly lease?: number | undefined;
  /**
   * Time on Redis after which the lock is lost even if it could be renewed: milliseconds above 0. On other backends the app does
   * not start with this option.
   *
   * @default without bound
   */
  readonly maxHold?: number | undefined;
  /**
   * Ends the wait of a call, which then rejects with `LockAbortedError`, whatever `onBusy` is: an `AbortSignal`, or a function of
   * the arguments that returns one, or `undefined`. No effect once the lock is held.
   *
   * @default none
   */
  readonly signal?: AbortSignal | ((...args: A) => AbortSignal | undefined) | undefined;
  /**
   * What a call does if it was not granted the lock in time.
   *
   * - `'throw'`: it rejects with `LockTimeoutError`.
   * - `'skip'`: it resolves to `undefined`, and the method is not run.
   * - A function: the method is not run, and the call settles as the function does.
   *
   * Errors of the method itself are never handled here, not even the `LockTimeoutError` of another lock.
   *
   * @default 'throw'
   */
  readonly onBusy?: B | undefined;
  /**
   * What a call does if its lock was lost while the method ran: from then on another holder may have had it. No policy can
   * stop the method: have it check `currentLease()`, or pass the `signal` of that lease to what it awaits.
   *
   * - `'throw'`: when the method has ended, it rejects with `LockLostError`, or with the error of the method if that failed
   *   itself.
   * - `'abort'`: it rejects with `LockLostError` at once. The rest of the method is not awaited; its lock is released
   *   when it has ended.
   * - `'ignore'`: it settles as the method does.
   * - A function: it is called on the loss; the call settles as the method does.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<A> | undefined;
}

/** Options of `@WithMutex`, for a method with arguments that begin with `A`. */
export interface MutexMethodOptions<A extends unknown[] = never[], B = OnBusy<A>>
  extends LockMethodOptions<A, B>, MutexOptions {}

/** Options of `@Semaphore`, for a method with arguments that begin with `A`. */
export interface SemaphoreMethodOptions<A extends unknown[] = never[], B = OnBusy<A>>
  extends LockMethodOptions<A, B>, SemaphoreOptions {}

/** What a method with `@LockStream` returns. */
export type StreamKind = 'observable' | 'generator';

/** Options of `@LockStream`, for a method with arguments that begin with `A`. */
export type LockStreamOptions<A extends unknown[] = never[], B = OnBusy<A>> = LockMethodOptions<
  A,
  B
> &
  RecipeOptions & {
    /**
     * What the method returns, if that cannot be seen: where the compiler or a decorator below makes an async generator a
     * plain function, and code distinguishes the two kinds before it uses the result, as Nest does with results of handlers.
     *
     * @default detected; if that is impossible, the result of a call can be used as either
     */
    readonly as?: StreamKind | undefined;
  };

/**
 * Options of `@LockDefaults`: defaults for the options that the lock decorators of a class do not set themselves.
 *
 * If `onBusy` yields a result, make sure that the return types of the methods include it: the compiler does not check this.
 */
export interface LockDefaultsOptions extends LockMethodOptions<unknown[], OnBusy<unknown[]>> {}
