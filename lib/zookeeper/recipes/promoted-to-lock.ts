import type { Wait } from '../../core/lock.js';
import type { RetryPolicy } from '../connection/retry-policies.js';

/** The mutex that a distributed atomic number takes when too many change it at the same time; Curator's class of that name. */
export interface PromotedToLock {
  /**
   * Key of the mutex, which everybody who changes the number should share.
   *
   * @default that of the number with `-lock` behind it
   */
  readonly key?: string;
  /**
   * How long to wait for it: milliseconds above 0, or `'forever'`.
   *
   * @default the `wait` of the client
   */
  readonly wait?: Wait;
  /**
   * How often, and after what pauses, it is tried again inside of the mutex.
   *
   * @default as outside of it
   */
  readonly retryPolicy?: RetryPolicy;
}
