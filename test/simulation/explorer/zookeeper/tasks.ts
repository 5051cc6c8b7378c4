import { explore, type Extent, type Play, type TaskReport } from '../exploration.js';
import { plant, type PlantedBug } from './planted.js';
import { play } from './run.js';
import { SCENARIOS, type ScenarioName, type Size } from './scenarios.js';

/** What to explore. */
export interface Task extends Size, Extent {
  readonly scenario: ScenarioName;
  readonly bug?: PlantedBug;
}

export function playOf({ scenario, ...size }: Pick<Task, 'scenario' | keyof Size>): Play {
  return (chooser) => play(SCENARIOS[scenario](size), chooser);
}

/** Explores, and shrinks what it finds. */
export async function perform(task: Task): Promise<TaskReport> {
  const { scenario, clients, requests, faults, kinds, bug } = task;
  const remove = bug === undefined ? () => {} : plant(bug);
  const again = (steps: readonly string[]) =>
    `npm run explore -- '${JSON.stringify({ scenario, clients, requests, faults, kinds, bug, steps })}'`;
  try {
    return await explore(playOf(task), task, again);
  } finally {
    remove();
  }
}
