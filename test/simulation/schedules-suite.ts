import { afterAll, describe, expect, it } from '@jest/globals';
import { currentOperation } from './current-operation.js';
import { runSchedules } from './run-schedules.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(process.env.SIMULATION_RUNS ?? 1_000);

/**
 * Random schedules.
 *
 * @param run the schedule of a seed; tells how often each kind of event happened
 * @param events what has to have happened many times, or the schedules show nothing
 */
export function schedulesSuite(
  title: string,
  run: (seed: number) => Promise<ReadonlyMap<string, number>>,
  events: readonly string[],
): void {
  describe(title, () => {
    afterAll(() => currentOperation.disable()); // else Node serves it at every promise of the files that come after

    it(`keeps its promises in ${RUNS} schedules from seed ${SEED}`, async () => {
      process.stdout.write(`${title}: ${RUNS} schedules from seed ${SEED}\n`);
      const counts = await runSchedules(SEED, RUNS, run);
      const rare = events.filter((kind) => (counts.get(kind) ?? 0) < RUNS / 10);
      if (RUNS >= 100) expect(rare).toEqual([]);
    }, 600_000);

    it('goes the same way whenever a schedule is run again', async () => {
      expect([...(await run(SEED))]).toEqual([...(await run(SEED))]);
    });
  });
}
