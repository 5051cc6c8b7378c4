import type { Clock, Timer } from '../clock.js';

/** Settles as `work` does, or resolves after `ms`, whichever comes first. */
export async function settleWithin(
  ms: number,
  clock: Clock,
  work: Promise<unknown>,
): Promise<void> {
  let timer: Timer | undefined;
  const expired = new Promise<void>((resolve) => (timer = clock.setTimer(resolve, ms)));
  try {
    await Promise.race([work, expired]);
  } finally {
    timer?.cancel();
  }
}

/** Resolves when `event` does, or as soon as `signal` aborts. */
export function untilAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    event.then(end, reject);
    if (signal.aborted) end();
  });
}
