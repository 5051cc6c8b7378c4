// Runs random schedules for the specs beside it: those of a plot from SEED on, as many as requested.
import { PLANTED, type PlantedBug } from './world/planted.js';
import { PLANTED_IN_CLIENT } from './world/planted-in-client.js';
import { type AnyPlot, runSchedule } from './world/any-schedule.js';
import { shrunkSchedule } from './world/shrunk-schedule.js';

/** How often each kind of event happened; or the first broken promise, with the seed of its schedule. */
export interface RedisSchedulesReport {
  readonly counts: readonly (readonly [event: string, count: number])[];
  /** The history of the last schedule. */
  readonly lines: readonly string[];
  readonly failure?: {
    readonly seed: number;
    readonly accusation: string;
    /** Of what is left of the schedule without all that does not matter. */
    readonly story?: string;
    readonly steps?: number;
  };
}

export interface RedisOrder {
  readonly plot: AnyPlot;
  readonly seed: number;
  readonly runs: number;
  /** Whether a failure is shrunk to a story of what matters. */
  readonly isShrunk?: boolean;
  /** Name of a planted bug. */
  readonly bug?: PlantedBug;
}

/** Runs the schedules with the bug planted. */
async function report(order: RedisOrder): Promise<RedisSchedulesReport> {
  const { bug } = order;
  if (bug === undefined) return run(order);
  if (bug in PLANTED) return run(order, PLANTED[bug as keyof typeof PLANTED]);
  const remove = PLANTED_IN_CLIENT[bug as keyof typeof PLANTED_IN_CLIENT]();
  try {
    return await run(order);
  } finally {
    remove();
  }
}

/** @param corrupt what has become of a script */
async function run(
  { plot, seed: from, runs, isShrunk }: RedisOrder,
  corrupt?: (source: string) => string,
): Promise<RedisSchedulesReport> {
  const total = new Map<string, number>();
  let lines: readonly string[] = [];
  for (let seed = from; seed < from + runs; seed++)
    try {
      const history = await runSchedule(plot, seed, corrupt);
      lines = history.lines;
      for (const [event, count] of history.counts)
        total.set(event, (total.get(event) ?? 0) + count);
    } catch (error) {
      const failure = { seed, accusation: (error as Error).message };
      if (!isShrunk) return { counts: [], lines, failure };
      const { story, steps } = await shrunkSchedule(plot, seed, corrupt);
      return { counts: [], lines, failure: { ...failure, story, steps: steps.length } };
    }
  return { counts: [...total], lines };
}

process.removeAllListeners('warning');

if (process.send)
  process.on('message', (told: string) => {
    void report(JSON.parse(told) as RedisOrder).then((message) => process.send!(message));
  });
else {
  const [plot, seed, runs, bug] = process.argv.slice(2);
  const order = {
    plot: plot as AnyPlot,
    seed: Number(seed),
    runs: Number(runs),
    bug: bug as PlantedBug,
    isShrunk: true,
  };
  const { counts, failure } = await report(order);
  console.log(failure ? `Seed ${failure.seed}: ${failure.story}` : Object.fromEntries(counts));
}
