import { eventually } from './eventually.js';

/** In ms. A waiter for a lock of Redis that does not listen to messages looks every 500 ms. */
const LONGER_THAN_A_SLEEP = 600;

/** Resolves once nothing was asked for longer than such a waiter sleeps: from now on only a message wakes it. */
export async function calm(asked: () => number | Promise<number>): Promise<void> {
  let before = -1;
  const isCalm = async () => before === (before = await asked());
  await eventually('no client asks any more', isCalm, { every: LONGER_THAN_A_SLEEP });
}
