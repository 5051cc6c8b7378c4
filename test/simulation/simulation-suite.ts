import { describe, expect, it } from '@jest/globals';
import type { Dice } from './dice.js';
import { runSchedules } from './run-schedules.js';
import { simulate } from './simulate.js';
import type { SimulatedLock } from './simulated-lock.js';
import type { World } from './world.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(process.env.SIMULATION_RUNS ?? 1_000);

/** What has to have happened many times, or the schedules show nothing. */
const EVENTS = [
  'granted',
  'refused',
  'released',
  'fenced',
  'lost',
  'queued again',
  'taken',
  'session ended',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_CLIENT_CLOSED',
  'CONNECTED',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];

/**
 * The random schedules of one recipe.
 *
 * @param lay makes the locks of a world
 * @param events what else has to happen
 */
export function simulationSuite(
  title: string,
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
  events: readonly string[] = [],
): void {
  describe(title, () => {
    it(`keeps its promises in ${RUNS} schedules from seed ${SEED}`, async () => {
      process.stdout.write(`${title}: ${RUNS} schedules from seed ${SEED}\n`);
      const counts = await runSchedules(SEED, RUNS, lay);
      const rare = [...EVENTS, ...events].filter((kind) => (counts.get(kind) ?? 0) < RUNS / 10);
      if (RUNS >= 100) expect(rare).toEqual([]);
    }, 600_000);

    it('goes the same way whenever a schedule is run again', async () => {
      expect([...(await simulate(SEED, lay))]).toEqual([...(await simulate(SEED, lay))]);
    });
  });
}
