import { setImmediate } from 'node:timers';

/** By how much `count` has grown at most in one turn of the event loop while `work` was done. */
export async function busiestTurn(
  count: () => number,
  work: () => Promise<unknown>,
): Promise<number> {
  let [most, before, isOver] = [0, count(), false];
  const look = () => {
    most = Math.max(most, count() - before);
    before = count();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return Math.max(most, count() - before);
}
