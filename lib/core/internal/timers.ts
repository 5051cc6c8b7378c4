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

/** Resolves after `ms` milliseconds; does not keep the process alive. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(() => resolve(), ms, true));
}

/** Calls `listener` once, when `signal` aborts, or now if it has; the returned function removes it. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Resolves when `event` does, or as soon as `signal` aborts. */
export async function untilAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop!: () => void;
  const aborted = new Promise<void>((resolve) => (stop = onAbort(signal, resolve)));
  await Promise.race([event, aborted]).finally(stop);
}
