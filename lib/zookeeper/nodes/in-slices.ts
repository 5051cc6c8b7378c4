import type { Clock } from '../../core/clock.js';

/** Most waiters that go on in one turn of the event loop: some milliseconds of work. */
const SLICE = 200;

/**
 * Calls `each` for the waiters in order: for up to 200 of them in this turn, for the others in later turns. What thousands
 * of waiters do after one event must not keep the event loop from its timers and sockets.
 */
export function inSlices<T>(clock: Clock, waiters: readonly T[], each: (waiter: T) => void): void {
  for (const waiter of waiters.slice(0, SLICE)) each(waiter);
  const rest = waiters.slice(SLICE);
  if (rest.length > 0) clock.setTimer(() => inSlices(clock, rest, each), 0);
}
