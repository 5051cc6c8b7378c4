import type { LockMethodOptions } from './lock-method-options.interface.js';

/** What one lock decorator asks for on one method. Made once, at class definition, and checked there. */
export interface LockPlan {
  /** Name of the decorator, e.g. `WithMutex`. */
  readonly decorator: string;
  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;
  readonly recipe: 'mutex';
  /** A literal key, or a function of the method's arguments. */
  readonly key: string | ((...args: never[]) => unknown);
  readonly options: LockMethodOptions;
}
