import type { Lease } from '../core/index.js';
import type { LockMember, LockTarget } from './lock-key.interface.js';
import type { LockMethodOptions, RunOnceOptions } from './lock-method-options.interface.js';

/** Several locks that a decorator acquires as one. */
export interface MultiLockTarget {
  readonly recipe: 'multiLock';
  /** The locks, or a function of the method's arguments that returns them. */
  readonly members: readonly LockMember[] | ((...args: never[]) => unknown);
}

/** Lock of `@RunOnce`: a mutex that is not reentrant. */
export interface RunOnceTarget {
  readonly recipe: 'semaphoreMutex';
  /** Name of the run, or a function of the method's arguments that returns it. */
  readonly key: string | ((...args: never[]) => unknown);
  readonly client?: undefined;
}

/** Lock of `@LeaderOnly`: a lease on the leadership of the app, if it leads. */
export interface LeaderTarget {
  readonly recipe: 'leaderLatch';
  /** Name of the election. */
  readonly key: string;
  readonly client?: undefined;
}

/** The request of one lock decorator on one method. Created and checked once, at class definition. */
export interface LockPlan {
  /** Name of the decorator, e.g. `WithMutex`, or `withLock`. */
  readonly decorator: string;
  /** Class and method, e.g. `Orders.pay`; for `withLock` the name of the function. */
  readonly method: string;
  /** The lock that a call acquires. */
  readonly lock: LockTarget | MultiLockTarget | RunOnceTarget | LeaderTarget;
  readonly options: LockMethodOptions;
  /** Which calls of `@RunOnce` run, and for how long they exclude the others. */
  readonly once?:
    | (Required<Omit<RunOnceOptions, 'client' | 'occurrence'>> & Pick<RunOnceOptions, 'occurrence'>)
    | undefined;
}

/** One call of a locked method. */
export interface LockedCall {
  /** The instance: `this` in the functions of the decorator. */
  readonly self: unknown;
  readonly args: unknown[];
  /** Calls the method itself. */
  readonly proceed: () => unknown;
  /** Aborts the wait for the lock. */
  readonly signal?: AbortSignal | undefined;
}

/** Traces the work inside the locks of decorated methods. One may be provided as `LOCK_TRACER`. */
export interface LockTracer {
  /**
   * Is called when the lock of `plan` was granted, and outside of it: only `proceed` runs in the scope of `lease`. Settles as
   * `proceed` does; then the lock is released.
   */
  hold(plan: LockPlan, proceed: () => Promise<unknown>, lease: Lease): unknown;
}
