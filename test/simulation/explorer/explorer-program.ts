// Explores in a process of its own, as in the context of a Jest test file every use of a global is slow, and with several all cores are
// busy: for the specs, and for `npm run explore`. Each message is a task; with `steps` in it, these are taken once.
import { performRedis, playOfRedis, type RedisTask } from '../redis/explorer/redis-tasks.js';
import {
  performRedLock,
  plantInClient,
  playOfRedLock,
  type RedLockTask,
} from '../redis/red-lock/explorer/red-lock-tasks.js';
import { replay, type TaskReport } from './exploration.js';
import { plant } from './zookeeper/planted.js';
import { perform, playOf, type Task } from './zookeeper/tasks.js';

export type AnyTask = Task | RedisTask | RedLockTask;
export type AnyOrder = AnyTask & { readonly steps?: readonly string[] };

/** What came of steps that were taken once. */
export interface Retold {
  readonly accusation?: string | undefined;
  readonly story: string;
}

Error.stackTraceLimit = 0; // errors of requests are made by the million, and read by their codes
process.removeAllListeners('warning'); // each deadlock is one

process.on('message', (told: string) => {
  const { steps, ...task } = JSON.parse(told) as AnyOrder;
  const done = steps ? retell(task, steps) : performAny(task);
  void done.then((report) => process.send!(report));
});

function performAny(task: AnyTask): Promise<TaskReport> {
  if ('redLock' in task) return performRedLock(task);
  return 'redis' in task ? performRedis(task) : perform(task);
}

async function retell(task: AnyTask, steps: readonly string[]): Promise<Retold> {
  const { accusation, story } = await replay(playOfAny(task), steps);
  return { accusation, story: story.toString() };
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
