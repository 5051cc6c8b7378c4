import { type Chooser, DepthFirst, RandomWalk, type Reduction, Script } from './choosers.js';
import { shrink } from './shrink.js';
import type { Story } from './story.js';

export interface RunReport {
  /** Whether it came to its end; otherwise the same run was explored in another order. */
  readonly isComplete: boolean;
  readonly steps: readonly string[];
  /** The promise that was broken. */
  readonly accusation?: string;
  /** What the locks have done, in the same words in every order of independent steps. */
  readonly outcome: string;
  /** That, and what each client has seen. */
  readonly views: string;
  readonly story: Story;
}

/** Carries out one run of a small world, step by step, as the chooser says. */
export type Play = (chooser: Chooser) => Promise<RunReport>;

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

/** Explores all runs, one after the other, up to that many; ends at the first that breaks a promise. */
async function exploreAll(
  play: Play,
  limit = Infinity,
  reduction?: Reduction,
): Promise<ExplorationReport> {
  const chooser = new DepthFirst(reduction);
  const tally = new Tally(play);
  for (;;) {
    const failure = await tally.explore(chooser);
    if (failure) return tally.report({ isExhausted: false, failure });
    if (!chooser.next()) return tally.report({ isExhausted: true });
    if (tally.runs >= limit) return tally.report({ isExhausted: false });
  }
}

/** Explores that many runs at random. */
async function exploreSome(play: Play, seed: number, runs: number): Promise<ExplorationReport> {
  const tally = new Tally(play);
  while (tally.runs < runs) {
    const failure = await tally.explore(new RandomWalk(seed + tally.runs + 1));
    if (failure) return tally.report({ isExhausted: false, failure });
  }
  return tally.report({ isExhausted: false });
}

/** Takes those steps again. */
export function replay(play: Play, steps: readonly string[]): Promise<RunReport> {
  return play(new Script(steps));
}

/** How much to explore. */
export interface Extent {
  /** Most runs. Default: all that there are. */
  readonly runs?: number;
  /** Explores runs at random from that seed on, and not one after the other. */
  readonly seed?: number;
  /** Default: all. */
  readonly reduction?: Reduction;
}

export interface TaskReport extends Omit<ExplorationReport, 'failure'> {
  /** How long a core was busy with it. */
  readonly seconds: number;
  readonly failure?: {
    /** The broken promise. */
    readonly accusation: string;
    /** The fewest that break it. */
    readonly steps: readonly string[];
    readonly story: string;
  };
}

/**
 * Explores, and shrinks what it finds.
 *
 * @param again the command that takes those steps again
 */
export async function explore(
  play: Play,
  { runs, seed, reduction }: Extent,
  again: (steps: readonly string[]) => string,
): Promise<TaskReport> {
  const before = process.cpuUsage();
  const { failure, ...found } =
    seed === undefined
      ? await exploreAll(play, runs, reduction)
      : await exploreSome(play, seed, runs ?? 1);
  const { user, system } = process.cpuUsage(before);
  const counts = { ...found, seconds: Math.round((user + system) / 100_000) / 10 };
  if (failure === undefined) return counts;
  const take = (some: readonly string[]) => replay(play, some);
  const { accusation = '', steps, story } = await shrink(take, failure);
  const told = `${accusation}\n\n${story.toString()}\n\nAgain: ${again(steps)}`;
  return { ...counts, failure: { accusation, steps, story: told } };
}

/** Counts what was explored. */
class Tally {
  runs = 0;
  #covered = 0;
  #longest = 0;
  readonly #outcomes = new Set<string>();
  readonly #views = new Set<string>();

  constructor(private readonly play: Play) {}

  /** Resolves to the report of a run that breaks a promise. */
  async explore(chooser: Chooser): Promise<RunReport | undefined> {
    const report = await this.play(chooser);
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
