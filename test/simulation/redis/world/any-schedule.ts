import type { History } from '../../observer.js';
import { runRedLockSchedule } from '../red-lock/red-lock-schedules.js';
import type { Plan } from './plan.js';
import type { PlotName } from './plots.js';
import { runRedisSchedule } from './redis-schedules.js';

/** What a schedule is about: a lock on one server, or a RedLock. */
export type AnyPlot = PlotName | 'red-lock';

/** Runs the random schedule of that seed. @throws when a promise is broken */
export function runSchedule(
  plot: AnyPlot,
  seed: number,
  corrupt?: (source: string) => string,
  plan?: Plan,
): Promise<History> {
  if (plot === 'red-lock') return runRedLockSchedule(seed, corrupt, plan);
  return runRedisSchedule(plot, seed, corrupt, plan);
}
