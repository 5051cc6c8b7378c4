const PERIOD = 2_000;

/** For `@Cron`. */
export const EVERY_TWO_SECONDS = '*/2 * * * * *';

/** Timers may be early by a millisecond or so. */
const EARLY = 100;

/** The number of the tick at that time. */
export function tickAt(ms: number): number {
  return Math.floor((ms + EARLY) / PERIOD);
}

/** Halfway to the next tick: who ran is known, and replicas that end then are not asked to run again. */
export function middleOf(tick: number): number {
  return (tick + 0.5) * PERIOD;
}
