import type { Reduction } from './choosers.js';
import { type ExplorationReport, exploreAll, exploreSome, replay } from './exploration.js';
import { plant, type PlantedBug } from './planted.js';
import { SCENARIOS, type ScenarioName, type Size } from './scenarios.js';
import { shrink } from './shrink.js';

/** What to explore. */
export interface Task extends Size {
  readonly scenario: ScenarioName;
  /** Most runs. Default: all that there are. */
  readonly runs?: number;
  /** Explores runs at random from that seed on, and not one after the other. */
  readonly seed?: number;
  /** Default: all. */
  readonly reduction?: Reduction;
  readonly bug?: PlantedBug;
}

export interface TaskReport extends Omit<ExplorationReport, 'failure'> {
  readonly failure?: {
    /** The broken promise. */
    readonly accusation: string;
    /** The fewest that break it. */
    readonly steps: readonly string[];
    readonly story: string;
  };
}

/** Explores, and shrinks what it finds. */
export async function perform(task: Task): Promise<TaskReport> {
  const { scenario: name, runs, seed, reduction, bug } = task;
  const scenario = SCENARIOS[name](task);
  const remove = bug === undefined ? () => {} : plant(bug);
  try {
    const { failure, ...counts } =
      seed === undefined
        ? await exploreAll(scenario, runs, reduction)
        : await exploreSome(scenario, seed, runs ?? 1);
    if (failure === undefined) return counts;
    const {
      accusation = '',
      steps,
      story,
    } = await shrink((some: readonly string[]) => replay(scenario, some), failure);
    const { clients, requests, faults, kinds } = task;
    const again = JSON.stringify({ scenario: name, clients, requests, faults, kinds, bug, steps });
    const told = `${accusation}\n\n${story.toString()}\n\nAgain: npm run explore -- '${again}'`;
    return { ...counts, failure: { accusation, steps, story: told } };
  } finally {
    remove();
  }
}
