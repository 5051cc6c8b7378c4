// `npm run explore` explores all that is known to end, in about three hours of one core, with all cores, what takes longest first;
// `npm run explore -- '{"side":"redis"}'` or `"zookeeper"` does so on one side;
// `npm run explore -- '{"scenario":"mutex","clients":2,"faults":1}'` performs one task on ZooKeeper, one with `redis` in place of
// `scenario` on Redis, one with `redLock` on several of them. With `steps` in the task, it takes those steps.
// `npm run explore -- '{"random":1000000}'` explores all worlds of each side at random, with that many runs of each side.
import { REDIS_COMPARED, REDIS_EXPLORED } from '../redis/explorer/redis-explored.js';
import {
  RED_LOCK_AT_RANDOM,
  RED_LOCK_COMPARED,
  RED_LOCK_EXPLORED,
} from '../redis/red-lock/explorer/red-lock-explored.js';
import type { TaskReport } from './exploration.js';
import type { AnyOrder, AnyTask } from './explorer-program.js';
import { Explorers } from './explorers.js';
import { type RandomOrder, randomTasks, type Side } from './random-worlds.js';
import { titleOf } from './title.js';
import { COMPARED, EXPLORED, FOUND } from './zookeeper/explored.js';

/** A world that was explored before, and what was found. */
interface KnownWorld {
  readonly task: AnyTask;
  readonly runs: number;
  readonly outcomes: number;
}

const OF_MUTEX = COMPARED.long.map((kinds) => {
  return { scenario: 'mutex', clients: 2, faults: 1, kinds } as const;
});
const ON_SERVERS = RED_LOCK_COMPARED.filter(({ isLong }) => isLong).map(({ task }) => task);

const explorers = new Explorers();
const [asked] = process.argv.slice(2);
try {
  const order = JSON.parse(asked ?? '{"side":"both"}') as AnyOrder | RandomOrder | { side: Side };
  if ('random' in order) await Promise.all(randomTasks(order).map(explored));
  else if ('side' in order) await exploreSide(order.side);
  else await exploreOne(order);
} finally {
  await explorers.stop();
}

async function exploreSide(side: Side): Promise<void> {
  const work: Promise<unknown>[] = [];
  if (side !== 'redis') work.push(exploreEach(EXPLORED), compareEach(OF_MUTEX), findEach());
  if (side !== 'zookeeper')
    work.push(
      exploreEach([...REDIS_EXPLORED, ...RED_LOCK_EXPLORED]),
      compareEach([...REDIS_COMPARED.long, ...ON_SERVERS]),
      ...RED_LOCK_AT_RANDOM.map(explored),
    );
  await Promise.all(work);
}

async function exploreEach(worlds: readonly KnownWorld[]): Promise<void> {
  const longestFirst = [...worlds].sort((one, other) => other.runs - one.runs);
  await Promise.all(
    longestFirst.map(async ({ task, ...known }) => {
      const { runs, outcomes } = await explored(task);
      if (runs !== known.runs || outcomes !== known.outcomes)
        fail(`${titleOf(task)}: ${known.runs} runs and ${known.outcomes} outcomes before.`);
    }),
  );
}

/** The reduction leaves out nothing that a client can see. */
async function compareEach(tasks: readonly AnyTask[]): Promise<void> {
  await Promise.all(
    tasks.map(async (task) => {
      const reduced = await explored(task);
      const all = await explored({ ...task, reduction: 'orders' });
      if (reduced.views !== all.views)
        fail(`${titleOf(task)}: the reduction leaves out what a client can see.`);
    }),
  );
}

/** Bugs that are planted; `npm test` has the others. */
async function findEach(): Promise<void> {
  const each = FOUND.filter(({ isLong }) => isLong).map(async ({ bug, task, accusation }) => {
    const { failure } = await explorers.perform({ ...task, bug });
    if (accusation.test(failure?.accusation ?? '')) process.stdout.write(`Found: it ${bug}.\n`);
    else fail(`Not found: it ${bug}.`);
  });
  await Promise.all(each);
}

function fail(what: string): void {
  process.exitCode = 1;
  process.stdout.write(`${what}\n`);
}

async function exploreOne({ steps, ...task }: AnyOrder): Promise<void> {
  if (steps === undefined) return void (await explored(task));
  const { accusation, story } = await explorers.retell(task, steps);
  process.stdout.write(`${accusation ?? 'All promises are kept.'}\n\n${story}\n`);
}

async function explored(task: AnyTask): Promise<TaskReport> {
  const report = await explorers.perform(task);
  const { failure, seconds, ...counts } = report;
  process.stdout.write(`${titleOf(task)}: ${JSON.stringify(counts)} in ${seconds} s of one core\n`);
  if (failure) fail(`\n${failure.story}\n`);
  return report;
}
