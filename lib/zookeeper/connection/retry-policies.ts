import { LockOptionsError } from '../../core/errors/index.js';

/** Decides, as in Curator, whether and when an operation that failed for lack of a connection is retried. */
export interface RetryPolicy {
  /**
   * @param retries number of retries so far, from 0
   * @param elapsedMs time since the first attempt in milliseconds
   * @returns milliseconds to sleep before the next attempt, or `undefined` to give up
   */
  nextDelay(retries: number, elapsedMs: number): number | undefined;
}

/** Retries every `sleepMs` milliseconds (above 0), without limit: only the caller's `wait` and `signal` bound it. */
export class RetryForever implements RetryPolicy {
  constructor(private readonly sleepMs: number) {
    checkRange('sleepMs', sleepMs, 1);
  }

  nextDelay(): number {
    return this.sleepMs;
  }
}

/** Retries up to `n` times, `sleepMs` milliseconds before each retry. `RetryOneTime` is `new RetryNTimes(1, sleepMs)`. */
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

/** Retries every `sleepMs` milliseconds until `maxElapsedMs` milliseconds have passed since the first attempt. */
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

/** Curator's bound: beyond it the doubled interval exceeds 32 bits. */
const MOST_RETRIES = 29;

/** Sleeps `base × max(1, random[0, 2^(n+1)))`, so that clients hit by the same failure spread out. */
export class ExponentialBackoffRetry implements RetryPolicy {
  /**
   * @param baseSleepMs unit of the sleep in milliseconds
   * @param maxRetries at most 29, as in Curator; a larger number counts as 29
   * @param maxSleepMs upper bound of one sleep in milliseconds. Default: none
   * @param random returns a number in [0, 1)
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

/** {@link ExponentialBackoffRetry} with an upper bound of each sleep, and the arguments in Curator's order. */
export class BoundedExponentialBackoffRetry implements RetryPolicy {
  readonly #policy: ExponentialBackoffRetry;

  /** All arguments are in milliseconds except `maxRetries`, which is at most 29. */
  constructor(baseSleepMs: number, maxSleepMs: number, maxRetries: number, random?: () => number) {
    this.#policy = new ExponentialBackoffRetry(baseSleepMs, maxRetries, maxSleepMs, random);
  }

  nextDelay(retries: number): number | undefined {
    return this.#policy.nextDelay(retries);
  }
}

/** Throws `LockOptionsError` unless `value` is a finite number of at least `least`. */
function checkRange(option: string, value: number, least = 0): void {
  if (!Number.isFinite(value) || value < least)
    throw new LockOptionsError(option, value, `a finite number of at least ${least}`);
}
