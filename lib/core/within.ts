import type { Clock, Timer } from './clock.js';

/** Settles as `work` does, or resolves after `ms`, whichever comes first. */
export async function within(ms: number, clock: Clock, work: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const expired = new Promise<void>((resolve) => (timer = clock.setTimer(resolve, ms)));
  try {
    await Promise.race([work, expired]);
  } finally {
    timer?.cancel();
  }
}
