import { ExponentialBackoffRetry } from './exponential-backoff-retry.js';
import type { RetryPolicy } from './retry-policy.js';

/** {@link ExponentialBackoffRetry} with a bound on each sleep, its arguments in Curator's order. */
export class BoundedExponentialBackoffRetry implements RetryPolicy {
  readonly #policy: ExponentialBackoffRetry;

  /** All in milliseconds but `maxRetries`, which is at most 29. */
  constructor(baseSleepMs: number, maxSleepMs: number, maxRetries: number, random?: () => number) {
    this.#policy = new ExponentialBackoffRetry(baseSleepMs, maxRetries, maxSleepMs, random);
  }

  nextDelay(retries: number): number | undefined {
    return this.#policy.nextDelay(retries);
  }
}
