import { explore, type Extent, type Play, type TaskReport } from '../../explorer/exploration.js';
import { PLANTED, type PlantedBug } from '../world/planted.js';
import { PLANTED_IN_CLIENT } from '../world/planted-in-client.js';
import { playRedis } from './redis-run.js';
import { REDIS_SCENARIOS, type RedisScenarioName, type RedisSize } from './redis-scenarios.js';

/** What to explore. */
export interface RedisTask extends RedisSize, Extent {
  readonly redis: RedisScenarioName;
  readonly bug?: PlantedBug;
}

export function playOfRedis({ redis, bug, ...size }: RedisTask): Play {
  const corrupt = bug && bug in PLANTED ? PLANTED[bug as keyof typeof PLANTED] : undefined;
  return (chooser) => playRedis(REDIS_SCENARIOS[redis](), size, chooser, corrupt);
}

/** Explores, and shrinks what it finds. */
export async function performRedis(task: RedisTask): Promise<TaskReport> {
  const { redis, clients, requests, faults, kinds, bug } = task;
  const plant = PLANTED_IN_CLIENT[bug as keyof typeof PLANTED_IN_CLIENT] ?? (() => () => {});
  const remove = plant();
  const again = (steps: readonly string[]) =>
    `npm run explore -- '${JSON.stringify({ redis, clients, requests, faults, kinds, bug, steps })}'`;
  try {
    return await explore(playOfRedis(task), task, again);
  } finally {
    remove();
  }
}
