import { setImmediate } from 'node:timers';

/** Captured at load time, because fake timers of a test runner replace the global one. */
const nextTurn = setImmediate;

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
