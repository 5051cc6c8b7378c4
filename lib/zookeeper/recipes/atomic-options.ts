import type { RetryPolicy } from '../connection/retry/retry-policy.js';

/** Options of a distributed atomic number. */
export interface AtomicOptions {
  /** How often, and after what pauses, a change is tried again that others came in between of. */
  readonly retryPolicy?: RetryPolicy;
}
