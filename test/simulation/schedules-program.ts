// Runs the random schedules of NAME for `schedulesSuite`: those from SEED on, as many as requested.
import { runSchedules } from './run-schedules.js';
import type { Schedule } from './schedule.js';

/** How often each kind of event happened; or the first broken promise, with the seed. */
export interface SchedulesReport {
  readonly counts?: readonly (readonly [kind: string, count: number])[];
  readonly accusation?: string;
}

const [name] = process.argv.slice(2);
const { schedule } = (await import(`./schedules/${name}.js`)) as { schedule: Schedule };

const report = (seed: number, runs: number): Promise<SchedulesReport> =>
  runSchedules(seed, runs, schedule).then(
    (counts) => ({ counts: [...counts] }),
    (error: Error) => ({ accusation: error.message }),
  );

process.on('message', (told: string) => {
  const [seed = NaN, runs = NaN] = told.split(' ').map(Number);
  void report(seed, runs).then((message) => process.send!(message));
});
