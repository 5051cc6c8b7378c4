import { setImmediate } from 'node:timers';
import type { Clock, Timer } from '../clock.js';

// All are captured at load time, because fake timers of a test runner replace the global ones.

/** Calls a function when the microtasks that are due have run. */
export const microtask = globalThis.queueMicrotask;

/** Calls a function when all microtasks have run. */
export const nextTick = process.nextTick.bind(process);

/** Calls a function in a later turn of the event loop. */
export const nextTurn = setImmediate;

/** Settles as `work` does, or resolves to `undefined` after `ms`, whichever comes first. */
export async function settleWithin<T>(
  ms: number,
  clock: Clock,
  work: Promise<T>,
): Promise<T | undefined> {
  let timer: Timer | undefined;
  const expired = new Promise<undefined>(
    (resolve) => (timer = clock.setTimer(() => resolve(undefined), ms)),
  );
  try {
    return await Promise.race([work, expired]);
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

/** Resolves to the answer, or to `undefined` as soon as the lock is lost, as the answer may then take long. */
export async function unlessLost<T>(
  hold: { onLost(listener: () => void): () => void },
  answer: Promise<T>,
): Promise<T | undefined> {
  let stop: (() => void) | undefined;
  const lost = new Promise<undefined>((resolve) => {
    stop = hold.onLost(() => resolve(undefined));
  });
  return await Promise.race([answer, lost]).finally(stop);
}

/** Number of items of one turn. */
const AT_ONCE = 200;

/**
 * Calls `each` with every item, in order, but with 200 at most in one turn of the event loop: the first ones now. Between two
 * turns the process does other work, and receives the answers to what the first items have asked for. Resolves when it is
 * done; rejects as soon as `each` throws.
 */
export async function inTurns<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let left = AT_ONCE;
  for (const item of items) {
    if (left === 0) {
      await new Promise<void>((resolve) => nextTurn(resolve));
      left = AT_ONCE;
    }
    left -= 1;
    each(item);
  }
}
