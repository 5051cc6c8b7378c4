import type { RetryPolicy } from '../connection/retry-policies.js';
import type { PromotedToLock } from './promoted-to-lock.js';

/** Options of a distributed atomic number. */
export interface AtomicOptions {
  /**
   * How often, and after what pauses, a change is tried again when another one came in between.
   *
   * @default up to 8 times, after 5 to 100 ms
   */
  readonly retryPolicy?: RetryPolicy;
  /**
   * The mutex to take when that was to no avail, to try again inside of it; false: none.
   *
   * @default one beside the number
   */
  readonly promotedToLock?: PromotedToLock | false;
}
