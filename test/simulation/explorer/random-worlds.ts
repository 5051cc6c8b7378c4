import type { RedisFault } from '../redis/explorer/redis-faults.js';
import { REDIS_SCENARIOS, type RedisScenarioName } from '../redis/explorer/redis-scenarios.js';
import type { RedisTask } from '../redis/explorer/redis-tasks.js';
import { type ScenarioName, SCENARIOS } from './zookeeper/scenarios.js';
import type { Task } from './zookeeper/tasks.js';

export type Side = 'zookeeper' | 'redis' | 'both';

/** To run worlds that are too large to be explored in full. */
export interface RandomOrder {
  /** How many runs of each side, spread over its worlds. */
  readonly random: number;
  /** Default: both. */
  readonly side?: Side;
  /** Default: 1. */
  readonly seed?: number;
}

const SIZES = [
  { clients: 2, requests: 2, faults: 1 },
  { clients: 2, requests: 3, faults: 2 },
  { clients: 3, requests: 3, faults: 1 },
  { clients: 3, requests: 4, faults: 2 },
];

/** The most clients of worlds that would come to no end with more, as some of them ask again and again. */
const MOST_CLIENTS: Partial<Record<RedisScenarioName, number>> = {
  'spin lock': 2,
  'two mutexes of one slot': 1, // while it waits with a lock, it asks the others for what they hold
};

/** A permit without an owner is lost, and its holder told so, when the answer to its release does not come for long. */
const KINDS: Partial<Record<RedisScenarioName, readonly RedisFault[]>> = {
  'plain semaphore': ['cut', 'lose', 'fill', 'fail over', 'demote'],
};

/** All worlds, with faults of any kind that they are to bear. */
export function randomTasks({ random, side, seed = 1 }: RandomOrder): (Task | RedisTask)[] {
  const sides = [
    ...(side === 'redis' ? [] : [ofZooKeeper()]),
    ...(side === 'zookeeper' ? [] : [ofRedis()]),
  ];
  return sides.flatMap((worlds) => {
    const runs = Math.ceil(random / worlds.length);
    return worlds.map((world) => ({ ...world, seed, runs }));
  });
}

function ofZooKeeper(): Task[] {
  const names = Object.keys(SCENARIOS) as ScenarioName[];
  return SIZES.flatMap((size) => names.map((scenario) => ({ scenario, ...size })));
}

function ofRedis(): RedisTask[] {
  const names = Object.keys(REDIS_SCENARIOS) as RedisScenarioName[];
  return names.flatMap((redis) => {
    const most = MOST_CLIENTS[redis] ?? Infinity;
    const sizes = SIZES.filter(({ clients }) => clients <= most);
    return (sizes.length > 0 ? sizes : [{ clients: most, faults: 2 }]).map((size) => ({
      redis,
      ...size,
      ...(KINDS[redis] && { kinds: KINDS[redis] }),
    }));
  });
}
