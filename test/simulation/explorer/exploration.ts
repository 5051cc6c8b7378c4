import { DepthFirst, RandomWalk, Script } from './choosers.js';
import { explore, type RunReport, type Scenario } from './run.js';

export interface ExplorationReport {
  /** Runs that came to their end. */
  readonly runs: number;
  /** Runs that were left, because the same was explored in another order of independent steps. */
  readonly covered: number;
  /** Whether there is no other run. */
  readonly isExhausted: boolean;
  readonly longest: number;
  readonly failure?: RunReport;
}

/** Explores all runs of a scenario, one after the other, up to that many; ends at the first that breaks a promise. */
export async function exploreAll(scenario: Scenario, limit = Infinity): Promise<ExplorationReport> {
  const chooser = new DepthFirst();
  let [runs, covered, longest] = [0, 0, 0];
  for (;;) {
    const report = await explore(scenario, chooser);
    if (report.isComplete) runs += 1;
    else covered += 1;
    longest = Math.max(longest, report.steps.length);
    const counts = { runs, covered, longest };
    if (report.accusation !== undefined) return { ...counts, isExhausted: false, failure: report };
    if (!chooser.next()) return { ...counts, isExhausted: true };
    if (runs >= limit) return { ...counts, isExhausted: false };
  }
}

/** Explores that many runs at random. */
export async function exploreSome(
  scenario: Scenario,
  seed: number,
  runs: number,
): Promise<ExplorationReport> {
  let longest = 0;
  for (let run = 1; run <= runs; run++) {
    const report = await explore(scenario, new RandomWalk(seed + run));
    longest = Math.max(longest, report.steps.length);
    const counts = { runs: run, covered: 0, longest, isExhausted: false };
    if (report.accusation !== undefined) return { ...counts, failure: report };
  }
  return { runs, covered: 0, longest, isExhausted: false };
}

/** Takes those steps again. */
export function replay(scenario: Scenario, steps: readonly string[]): Promise<RunReport> {
  return explore(scenario, new Script(steps));
}
