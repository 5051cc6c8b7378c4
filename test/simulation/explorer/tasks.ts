import { type ExplorationReport, exploreAll, exploreSome, replay } from './exploration.js';
import type { Fault } from './faults.js';
import { plant, type PlantedBug } from './planted.js';
import { SCENARIOS, type ScenarioName } from './scenarios.js';
import { shrink } from './shrink.js';

/** What to explore. */
export interface Task {
  readonly scenario: ScenarioName;
  readonly clients: number;
  /** In each run. */
  readonly faults: number;
  /** Default: all. */
  readonly kinds?: readonly Fault[];
  /** Most runs. Default: all that there are. */
  readonly runs?: number;
  /** Explores runs at random from that seed on, and not one after the other. */
  readonly seed?: number;
  /** Default: true. */
  readonly isReduced?: boolean;
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
  const { scenario: name, clients, faults, kinds, runs, seed, isReduced, bug } = task;
  const scenario = SCENARIOS[name](clients, faults, kinds);
  const remove = bug === undefined ? () => {} : plant(bug);
  try {
    const { failure, ...counts } =
      seed === undefined
        ? await exploreAll(scenario, runs, isReduced)
        : await exploreSome(scenario, seed, runs ?? 1);
    if (failure === undefined) return counts;
    const {
      accusation = '',
      steps,
      story,
    } = await shrink((some: readonly string[]) => replay(scenario, some), failure);
    const again = JSON.stringify({ scenario: name, clients, faults, kinds, bug, steps });
    const told = `${accusation}\n\n${story.toString()}\n\nAgain: npm run explore -- '${again}'`;
    return { ...counts, failure: { accusation, steps, story: told } };
  } finally {
    remove();
  }
}
