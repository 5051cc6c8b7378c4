import { shrink } from '../../explorer/shrink.js';
import { type AnyPlot, runSchedule } from './any-schedule.js';
import { type Happening, Plan } from './plan.js';

/** A schedule, or what is left of it. */
interface ScheduleRun {
  readonly steps: readonly Happening[];
  readonly accusation?: string;
  readonly story: string;
}

/** Leaves out of the schedule of that seed, which breaks a promise, the visits, accidents and cuts that do not matter. */
export async function shrunkSchedule(
  plotName: AnyPlot,
  seed: number,
  corrupt?: (source: string) => string,
): Promise<ScheduleRun> {
  const replay = async (kept?: readonly Happening[]): Promise<ScheduleRun> => {
    const plan = new Plan(kept);
    const steps = plan.happened;
    try {
      await runSchedule(plotName, seed, corrupt, plan);
      return { steps, story: String(plan.story) };
    } catch (error) {
      const [accusation = ''] = (error as Error).message.split('\n');
      return { steps, accusation, story: `${accusation}\n\n${String(plan.story)}` };
    }
  };
  return shrink(replay, await replay());
}
