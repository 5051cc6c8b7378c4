import type { LockPlan } from './lock-plan.interface.js';

/** Follows what happens inside of the locks of decorated methods. One may be provided as `LOCK_TRACER`. */
export interface LockTracer {
  /** Runs `proceed`, inside of the lock of `plan`; settles as it does. */
  hold(plan: LockPlan, proceed: () => unknown): unknown;
}
