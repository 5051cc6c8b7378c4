import type { AcquireOptions } from './acquire-options.js';

/** Options of an acquire on a semaphore. */
export interface PermitOptions extends AcquireOptions {
  /**
   * How many permits to take, all together or none: a whole number from 1 to what the semaphore has.
   *
   * @default 1
   */
  readonly permits?: number;
}
