import { setImmediate as nextTurn } from 'node:timers/promises';

/** Is the promise settled by the next turn of the event loop? Rejects as the promise does. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, nextTurn(pending)])) !== pending;
}
