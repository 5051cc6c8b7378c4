import { type Clock, systemClock } from '../clock.js';

/** The same moment by the clock of one thread, and by the clock of the machine that all threads share; in ms. */
export interface ThreadTime {
  readonly now: number;
  readonly shared: number;
}

export function threadTime(clock: Clock): ThreadTime {
  return { now: clock.now(), shared: Number(process.hrtime.bigint()) / 1e6 };
}

/** The clock of another thread, each of which counts from a start of its own, with the timers of this one. */
export function clockOf(other: ThreadTime): Clock {
  const own = threadTime(systemClock);
  const ahead = other.now - other.shared - (own.now - own.shared);
  return {
    now: () => systemClock.now() + ahead,
    setTimer: (fn, ms, background) => systemClock.setTimer(fn, ms, background),
  };
}
