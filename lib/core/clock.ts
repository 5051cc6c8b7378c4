import { performance } from 'node:perf_hooks';

/** A pending timer. */
export interface Timer {
  /** Stops the timer; no effect once it has fired. */
  cancel(): void;
}

/**
 * Monotonic time and timers, injected everywhere so that tests and simulations run on virtual time.
 *
 * The wall clock is never used: a clock step must not end or prolong a lock.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start; never decreases. */
  now(): number;
  /**
   * Calls `fn` once, `ms` from now.
   *
   * @param ms delay in milliseconds; any finite number, also above the 2^31 - 1 of `setTimeout`
   * @param background true if the timer alone must not keep the process alive
   */
  setTimer(fn: () => void, ms: number, background?: boolean): Timer;
}

/** Longest delay that `setTimeout` supports; a longer one fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The system clock: `performance.now` and `setTimeout`. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(fn, ms, background = false): Timer {
    let remaining = ms;
    let handle: NodeJS.Timeout;
    const arm = () => {
      const step = Math.min(remaining, LONGEST_TIMEOUT);
      remaining -= step;
      handle = setTimeout(() => (remaining > 0 ? arm() : fn()), step);
      if (background) handle.unref();
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  },
};
