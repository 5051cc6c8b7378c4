import { checkRange } from './check-range.js';
import type { RetryPolicy } from './retry-policy.js';

/** Retries every `sleepMs` until `maxElapsedMs` milliseconds have gone by since the first try. */
export class RetryUntilElapsed implements RetryPolicy {
  constructor(
    private readonly maxElapsedMs: number,
    private readonly sleepMs: number,
  ) {
    checkRange('maxElapsedMs', maxElapsedMs);
    checkRange('sleepMs', sleepMs);
  }

  nextDelay(_retries: number, elapsedMs: number): number | undefined {
    return elapsedMs < this.maxElapsedMs ? this.sleepMs : undefined;
  }
}
