/** The process is seen to run at most this often, in ms. */
const TICK = 5;

/**
 * Resolves when something is reported, to the last time before that at which this process was seen to run, in ms since 1970.
 * What was reported late because the process did not run (the machine was busy, garbage was collected) counts as reported in
 * time: no work acts on a lease in a process that does not run.
 *
 * @param listen calls `told` when it is reported
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
