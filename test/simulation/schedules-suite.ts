import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../integration/support/program.js';
import type { SchedulesReport } from './schedules-program.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(process.env.SIMULATION_RUNS ?? 1_000);

/**
 * Random schedules. They run in a process of their own, which takes two thirds of the time: in the context that Jest creates
 * for a test file, every use of a global is slow.
 *
 * @param name of the module in `schedules`
 * @param events that have to occur many times, or the schedules prove nothing
 */
export function schedulesSuite(title: string, name: string, events: readonly string[]): void {
  describe(title, () => {
    let program: Program;

    beforeAll(() => {
      program = new Program(new URL('./schedules-program.ts', import.meta.url), [name]);
    });
    afterAll(() => program.stop());

    const countsOf = async (runs: number): Promise<ReadonlyMap<string, number>> => {
      program.tell(`${SEED} ${runs}`);
      const { counts, accusation } = await program.next<SchedulesReport>();
      if (accusation !== undefined) throw new Error(accusation);
      return new Map(counts);
    };

    it(`keeps its promises in ${RUNS} schedules from seed ${SEED}`, async () => {
      process.stdout.write(`${title}: ${RUNS} schedules from seed ${SEED}\n`);
      const counts = await countsOf(RUNS);
      const rare = events.filter((kind) => (counts.get(kind) ?? 0) < RUNS / 10);
      if (RUNS >= 100) expect(rare).toEqual([]);
    }, 600_000);

    it('goes the same way whenever a schedule is run again', async () => {
      expect([...(await countsOf(1))]).toEqual([...(await countsOf(1))]);
    });
  });
}
