import { type Chooser, DepthFirst, RandomWalk, type Reduction, Script } from './choosers.js';
import { explore, type RunReport } from './run.js';
import type { Scenario } from './scenarios.js';

export interface ExplorationReport {
  /** Runs that came to their end. */
  readonly runs: number;
  /** Runs that were left, because the same is explored in another order of independent steps, or under other names. */
  readonly covered: number;
  /** How many of them differ in what the locks did, and not only in names of clients. */
  readonly outcomes: number;
  /** How many differ in that, or in what a client has seen. */
  readonly views: number;
  /** The most steps of a run. */
  readonly longest: number;
  /** Whether there is no other run. */
  readonly isExhausted: boolean;
  readonly failure?: RunReport;
}

/** Explores all runs of a scenario, one after the other, up to that many; ends at the first that breaks a promise. */
export async function exploreAll(
  scenario: Scenario,
  limit = Infinity,
  reduction?: Reduction,
): Promise<ExplorationReport> {
  const chooser = new DepthFirst(reduction);
  const tally = new Tally(scenario);
  for (;;) {
    const failure = await tally.explore(chooser);
    if (failure) return tally.report({ isExhausted: false, failure });
    if (!chooser.next()) return tally.report({ isExhausted: true });
    if (tally.runs >= limit) return tally.report({ isExhausted: false });
  }
}

/** Explores that many runs at random. */
export async function exploreSome(
  scenario: Scenario,
  seed: number,
  runs: number,
): Promise<ExplorationReport> {
  const tally = new Tally(scenario);
  while (tally.runs < runs) {
    const failure = await tally.explore(new RandomWalk(seed + tally.runs + 1));
    if (failure) return tally.report({ isExhausted: false, failure });
  }
  return tally.report({ isExhausted: false });
}

/** Takes those steps again. */
export function replay(scenario: Scenario, steps: readonly string[]): Promise<RunReport> {
  return explore(scenario, new Script(steps));
}

/** Counts what was explored. */
class Tally {
  runs = 0;
  #covered = 0;
  #longest = 0;
  readonly #outcomes = new Set<string>();
  readonly #views = new Set<string>();

  constructor(private readonly scenario: Scenario) {}

  /** Resolves to the report of a run that breaks a promise. */
  async explore(chooser: Chooser): Promise<RunReport | undefined> {
    const report = await explore(this.scenario, chooser);
    const { isComplete, steps, outcome, views, accusation } = report;
    if (isComplete) this.runs += 1;
    else this.#covered += 1;
    if (isComplete) this.#outcomes.add(outcome);
    if (isComplete) this.#views.add(views);
    this.#longest = Math.max(this.#longest, steps.length);
    return accusation === undefined ? undefined : report;
  }

  report(end: Pick<ExplorationReport, 'isExhausted' | 'failure'>): ExplorationReport {
    const { runs } = this;
    const [covered, longest] = [this.#covered, this.#longest];
    const [outcomes, views] = [this.#outcomes.size, this.#views.size];
    return { runs, covered, outcomes, views, longest, ...end };
  }
}
