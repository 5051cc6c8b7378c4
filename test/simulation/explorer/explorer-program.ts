// Explores in a process of its own, as in the context of a Jest test file every use of a global is slow: for the specs, and by hand.
// `npm run explore` explores all that is known to end, in about an hour;
// `npm run explore -- '{"scenario":"mutex","clients":2,"faults":1}'` performs one task on ZooKeeper, one with `redis` in place of
// `scenario` on Redis, one with `redLock` on several of them. With `steps` in the task, it takes those steps.
// `npm run explore -- '{"random":1000000}'` explores all worlds of each side at random, with that many runs of each side.
import { REDIS_COMPARED, REDIS_EXPLORED } from '../redis/explorer/redis-explored.js';
import { performRedis, playOfRedis, type RedisTask } from '../redis/explorer/redis-tasks.js';
import {
  RED_LOCK_AT_RANDOM,
  RED_LOCK_COMPARED,
  RED_LOCK_EXPLORED,
} from '../redis/red-lock/explorer/red-lock-explored.js';
import {
  performRedLock,
  plantInClient,
  playOfRedLock,
  type RedLockTask,
} from '../redis/red-lock/explorer/red-lock-tasks.js';
import { replay, type TaskReport } from './exploration.js';
import { titleOf } from './title.js';
import { COMPARED, EXPLORED, FOUND } from './zookeeper/explored.js';
import { plant } from './zookeeper/planted.js';
import { type RandomOrder, randomTasks } from './random-worlds.js';
import { perform, playOf, type Task } from './zookeeper/tasks.js';

type AnyTask = Task | RedisTask | RedLockTask;

Error.stackTraceLimit = 0; // errors of requests are made by the million, and read by their codes
process.removeAllListeners('warning'); // each deadlock is one

const [asked] = process.argv.slice(2);
if (process.send)
  process.on('message', (told: string) => {
    void performAny(JSON.parse(told) as AnyTask).then((report) => process.send!(report));
  });
else if (asked === undefined) {
  await exploreEach();
  await compareEach();
  await findEach();
} else {
  const order = JSON.parse(asked) as (AnyTask & { steps?: string[] }) | RandomOrder;
  if ('random' in order) for (const task of randomTasks(order)) await explored(task);
  else await exploreOne(order);
}

function performAny(task: AnyTask): Promise<TaskReport> {
  if ('redLock' in task) return performRedLock(task);
  return 'redis' in task ? performRedis(task) : perform(task);
}

async function exploreEach(): Promise<void> {
  for (const { task, ...known } of [...EXPLORED, ...REDIS_EXPLORED, ...RED_LOCK_EXPLORED]) {
    const { runs, outcomes } = await explored(task);
    if (runs !== known.runs || outcomes !== known.outcomes)
      fail(`There were ${known.runs} runs and ${known.outcomes} outcomes before.`);
  }
  for (const task of RED_LOCK_AT_RANDOM) await explored(task);
}

/** The reduction leaves out nothing that a client can see. */
async function compareEach(): Promise<void> {
  const onZooKeeper = COMPARED.long.map((kinds) => {
    return { scenario: 'mutex', clients: 2, faults: 1, kinds } as const;
  });
  const onServers = RED_LOCK_COMPARED.filter(({ isLong }) => isLong).map(({ task }) => task);
  for (const task of [...onZooKeeper, ...REDIS_COMPARED.long, ...onServers]) {
    const [reduced, all] = [await explored(task), await explored({ ...task, reduction: 'orders' })];
    if (reduced.views !== all.views) fail('The reduction leaves out what a client can see.');
  }
}

/** Bugs that are planted; `npm test` has the others. */
async function findEach(): Promise<void> {
  for (const { bug, task, accusation } of FOUND.filter(({ isLong }) => isLong)) {
    const { failure } = await perform({ ...task, bug });
    if (accusation.test(failure?.accusation ?? '')) process.stdout.write(`Found: it ${bug}.\n`);
    else fail(`Not found: it ${bug}.`);
  }
}

function fail(what: string): void {
  process.exitCode = 1;
  process.stdout.write(`${what}\n`);
}

async function exploreOne({ steps, ...task }: AnyTask & { steps?: string[] }): Promise<void> {
  if (steps === undefined) return void (await explored(task));
  const { accusation, story } = await replay(playOfAny(task), steps);
  const verdict = accusation ?? 'All promises are kept.';
  process.stdout.write(`${verdict}\n\n${story.toString()}\n`);
}

/** With its bug planted, if it has one. */
function playOfAny(task: AnyTask) {
  if ('redLock' in task) {
    plantInClient(task.bug);
    return playOfRedLock(task);
  }
  if ('redis' in task) return playOfRedis(task);
  if (task.bug) plant(task.bug);
  return playOf(task);
}

async function explored(task: AnyTask): Promise<TaskReport> {
  const before = process.cpuUsage();
  const report = await performAny(task);
  const { failure, ...counts } = report;
  const { user, system } = process.cpuUsage(before);
  const seconds = ((user + system) / 1_000_000).toFixed(1);
  process.stdout.write(`${titleOf(task)}: ${JSON.stringify(counts)} in ${seconds} s of one core\n`);
  if (failure) {
    process.exitCode = 1;
    process.stdout.write(`\n${failure.story}\n\n`);
  }
  return report;
}
