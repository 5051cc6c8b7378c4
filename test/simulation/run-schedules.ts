import type { Dice } from './dice.js';
import type { SimulatedLock } from './simulated-lock.js';
import { simulate } from './simulate.js';
import type { World } from './world.js';

/**
 * Runs so many random schedules with the locks that `lay` makes, one seed after the other.
 *
 * @returns how often each kind of event happened in all of them
 * @throws with the seed of the first schedule in which a promise is broken
 */
export async function runSchedules(
  seed: number,
  runs: number,
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let next = seed; next < seed + runs; next++) {
    const replay = `SIMULATION_SEED=${next} SIMULATION_RUNS=1`;
    const seen = await simulate(next, lay).catch((cause: Error) => {
      throw new Error(`${replay}: ${cause.message}`, { cause });
    });
    for (const [kind, count] of seen) counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return counts;
}
