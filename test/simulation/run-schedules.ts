import type { Schedule } from './schedule.js';

/**
 * Runs that many random schedules, one seed after the other.
 *
 * @returns how often each kind of event happened in all of them
 * @throws with the seed of the first schedule in which a promise is broken
 */
export async function runSchedules(
  seed: number,
  runs: number,
  schedule: Schedule,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let next = seed; next < seed + runs; next++) {
    const replay = `SIMULATION_SEED=${next} SIMULATION_RUNS=1`;
    const seen = await schedule(next).catch((cause: Error) => {
      throw new Error(`${replay}: ${cause.message}`, { cause });
    });
    for (const [kind, count] of seen) counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return counts;
}
