import { type ExplorationReport, exploreAll, exploreSome } from './exploration.js';
import type { Fault } from './faults.js';
import { plant, type PlantedBug } from './planted.js';
import { SCENARIOS, type ScenarioName } from './scenarios.js';
import { shrink, story } from './shrink.js';

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
  const { scenario: name, clients, faults, kinds, runs, seed, bug } = task;
  const scenario = SCENARIOS[name](clients, faults, kinds);
  const remove = bug === undefined ? () => {} : plant(bug);
  try {
    const { failure, ...counts } =
      seed === undefined
        ? await exploreAll(scenario, runs)
        : await exploreSome(scenario, seed, runs ?? 1);
    if (failure === undefined) return counts;
    const { accusation = '', steps, ...rest } = await shrink(scenario, failure);
    const again = { scenario: name, clients, faults, bug, steps };
    const command = `npm run explore -- '${JSON.stringify(again)}'`;
    return {
      ...counts,
      failure: { accusation, steps, story: story({ ...rest, steps, accusation }, command) },
    };
  } finally {
    remove();
  }
}
