import type { Clock } from './clock.js';

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(end, ms, true);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
