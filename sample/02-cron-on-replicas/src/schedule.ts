const PERIOD = 2_000;

/** For `@Cron`. */
export const EVERY_TWO_SECONDS = '*/2 * * * * *';

/** Timers may be early by a millisecond or so. */
const EARLY = 100;

/** The number of the tick at that time. */
export function tickAt(ms: number): number {
  return Math.floor((ms + EARLY) / PERIOD);
}

/** When that tick is over. */
export function endOf(tick: number): number {
  return (tick + 1) * PERIOD - EARLY;
}
