import { checkRange } from './check-range.js';
import type { RetryPolicy } from './retry-policy.js';

/** Curator's bound: beyond it the doubled interval leaves 32 bits. */
const MOST_RETRIES = 29;

/** Sleeps `base × max(1, random[0, 2^(n+1)))`, so that many clients of one failure spread out. */
export class ExponentialBackoffRetry implements RetryPolicy {
  /**
   * @param baseSleepMs unit of the sleep in milliseconds
   * @param maxRetries at most 29, as in Curator; a larger number counts as 29
   * @param maxSleepMs bound on one sleep in milliseconds. Default: none
   * @param random in [0, 1)
   */
  constructor(
    private readonly baseSleepMs: number,
    private readonly maxRetries: number,
    private readonly maxSleepMs = Number.MAX_SAFE_INTEGER,
    private readonly random: () => number = Math.random,
  ) {
    checkRange('baseSleepMs', baseSleepMs);
    checkRange('maxRetries', maxRetries);
    checkRange('maxSleepMs', maxSleepMs);
  }

  nextDelay(retries: number): number | undefined {
    if (retries >= Math.min(this.maxRetries, MOST_RETRIES)) return undefined;
    const factor = Math.max(1, Math.floor(this.random() * 2 ** (retries + 1)));
    return Math.min(this.maxSleepMs, this.baseSleepMs * factor);
  }
}
