import { checkRange } from './check-range.js';
import type { RetryPolicy } from './retry-policy.js';

/** Retries every `sleepMs` milliseconds (above 0), without end: the caller's `wait` and `signal` are the only bounds. */
export class RetryForever implements RetryPolicy {
  constructor(private readonly sleepMs: number) {
    checkRange('sleepMs', sleepMs, 1);
  }

  nextDelay(): number {
    return this.sleepMs;
  }
}
