/** More often than this, in ms, nobody looks whether the process runs. */
const TICK = 5;

/**
 * Resolves when something is told, to the last time before that at which this process was seen to run, in ms since 1970. What
 * it was told late because it did not run (the machine was busy, garbage was collected) counts as told in time: nobody acts on
 * a lease in a process that does not run.
 *
 * @param listen calls `told` when it is told
 */
export function toldAt(listen: (told: () => void) => void): Promise<number> {
  return new Promise((resolve) => {
    let [before, now] = [Date.now(), Date.now()];
    // After a stall a tick may come before the news, in the same turn: so the time of the one before that counts.
    const ticks = setInterval(() => ([before, now] = [now, Date.now()]), TICK).unref();
    listen(() => {
      clearInterval(ticks);
      resolve(before);
    });
  });
}
