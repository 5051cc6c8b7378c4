// Runs random schedules for `schedules.spec.ts`: those of KIND from SEED on, as many as requested.
import { SCHEDULES, type Kind } from './schedules.js';

/** How often each kind of event happened; or the first broken promise, with the seed of its schedule. */
export interface SchedulesReport {
  readonly counts: readonly (readonly [event: string, count: number])[];
  /** The history of the last schedule. */
  readonly lines: readonly string[];
  readonly failure?: { readonly seed: number; readonly accusation: string };
}

async function report(kind: Kind, from: number, runs: number): Promise<SchedulesReport> {
  const total = new Map<string, number>();
  let lines: readonly string[] = [];
  for (let seed = from; seed < from + runs; seed++)
    try {
      const history = await SCHEDULES[kind](seed);
      lines = history.lines;
      for (const [event, count] of history.counts)
        total.set(event, (total.get(event) ?? 0) + count);
    } catch (error) {
      return { counts: [], lines, failure: { seed, accusation: (error as Error).message } };
    }
  return { counts: [...total], lines };
}

process.removeAllListeners('warning'); // each deadlock is one

process.on('message', (told: string) => {
  const [kind, seed, runs] = told.split(' ') as [Kind, string, string];
  void report(kind, Number(seed), Number(runs)).then((message) => process.send!(message));
});
