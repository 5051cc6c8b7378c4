import type { LeaderTarget } from './leader-target.interface.js';
import type { LockMethodOptions } from './lock-method-options.interface.js';
import type { LockTarget } from './lock-target.interface.js';
import type { MultiLockTarget } from './multi-lock-target.interface.js';
import type { RunOnceOptions } from './run-once-options.interface.js';
import type { RunOnceTarget } from './run-once-target.interface.js';

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
