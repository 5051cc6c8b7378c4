import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from './clock.js';

/** The longest delay that `setTimeout` takes; beyond it, it fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The clock of the machine: `performance.now` and `setTimeout`. */
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
