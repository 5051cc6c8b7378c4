import { checkRange } from './check-range.js';
import type { RetryPolicy } from './retry-policy.js';

/** Up to `n` retries, `sleepMs` milliseconds before each. `RetryOneTime` is `new RetryNTimes(1, sleepMs)`. */
export class RetryNTimes implements RetryPolicy {
  constructor(
    private readonly n: number,
    private readonly sleepMs: number,
  ) {
    checkRange('n', n);
    checkRange('sleepMs', sleepMs);
  }

  nextDelay(retries: number): number | undefined {
    return retries < this.n ? this.sleepMs : undefined;
  }
}
