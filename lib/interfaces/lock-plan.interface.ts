import type { LockMember, LockTarget } from './lock-key.interface.js';
import type { LockMethodOptions, RunOnceOptions } from './lock-method-options.interface.js';

/** Several locks that a decorator asks for, as one. */
export interface MultiLockTarget {
  readonly recipe: 'multiLock';
  /** What they are, or a function of the method's arguments that gives that. */
  readonly members: readonly LockMember[] | ((...args: never[]) => unknown);
}

/** What `@RunOnce` takes: a mutex in which a run does not find itself again. */
export interface RunOnceTarget {
  readonly recipe: 'semaphoreMutex';
  /** Name of the run, or what makes it of the method's arguments. */
  readonly key: string | ((...args: never[]) => unknown);
  readonly client?: undefined;
}

/** What `@LeaderOnly` takes: a part of the leadership that the app has, if it has. */
export interface LeaderTarget {
  readonly recipe: 'leaderLatch';
  /** Name of the election. */
  readonly key: string;
  readonly client?: undefined;
}

/** What one lock decorator asks for on one method. Made once, at class definition, and checked there. */
export interface LockPlan {
  /** Name of the decorator, e.g. `WithMutex`. */
  readonly decorator: string;
  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;
  /** What a call takes. */
  readonly lock: LockTarget | MultiLockTarget | RunOnceTarget | LeaderTarget;
  readonly options: LockMethodOptions;
  /** How long a run of `@RunOnce` keeps the others out. */
  readonly once?: Required<Omit<RunOnceOptions, 'client'>>;
}

/** Follows what happens inside of the locks of decorated methods. One may be provided as `LOCK_TRACER`. */
export interface LockTracer {
  /** Runs `proceed`, inside of the lock of `plan`; settles as it does. */
  hold(plan: LockPlan, proceed: () => unknown): unknown;
}
