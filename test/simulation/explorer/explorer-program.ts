// Explores in a process of its own, as in the context of a Jest test file every use of a global is slow: for
// `exploration.spec.ts`, and by hand with the task as argument: `npm run explore -- '{"scenario":"mutex","clients":2,"faults":1}'`.
// With `steps` in the task, it takes those steps and prints the story.
import { replay } from './exploration.js';
import { plant } from './planted.js';
import { SCENARIOS } from './scenarios.js';
import { perform, type Task } from './tasks.js';

Error.stackTraceLimit = 0; // errors of requests are made by the million, and read by their codes
process.removeAllListeners('warning'); // each deadlock is one

process.on('message', (told: string) => {
  void perform(JSON.parse(told) as Task).then((report) => process.send!(report));
});

const [asked] = process.argv.slice(2);
if (asked !== undefined) {
  const { steps, ...task } = JSON.parse(asked) as Task & { steps?: string[] };
  process.stdout.write(`${await (steps ? tell(task, steps) : explored(task))}\n`);
}

async function explored(task: Task): Promise<string> {
  const startedAt = performance.now();
  const { failure, ...counts } = await perform(task);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const line = `${JSON.stringify(task)}: ${JSON.stringify(counts)} in ${seconds} s`;
  if (failure) process.exitCode = 1;
  return failure ? `${line}\n\n${failure.story}` : line;
}

async function tell(
  { scenario, clients, faults, kinds, bug }: Task,
  steps: string[],
): Promise<string> {
  if (bug) plant(bug);
  const { accusation, story } = await replay(SCENARIOS[scenario](clients, faults, kinds), steps);
  return `${accusation ?? 'All promises are kept.'}\n\n${story.toString()}`;
}
