import { type Clock, systemClock } from '../clock.js';
import type { SignOfLife } from './sign-of-life.js';

/** The same moment by the clock of one thread, and by the clock of the machine that all threads share; in ms. */
export interface ThreadTime {
  readonly now: number;
  readonly shared: number;
  /** What the machine has slept until then, as far as that thread knows: `now` has it, `shared` has not. */
  readonly slept: number;
}

export function threadTime(clock: Clock): ThreadTime {
  const slept = clock.noticeSleep?.() ?? 0;
  return { now: clock.now(), shared: Number(process.hrtime.bigint()) / 1e6, slept };
}

/**
 * The clock of another thread, each of which counts from a start of its own, with the timers of this one. It knows of the sleep of
 * the machine as soon as the other thread does: were it to measure that by itself, times of the two could not be compared.
 */
export function clockOf(other: ThreadTime, sign: SignOfLife): Clock {
  const own = Number(process.hrtime.bigint()) / 1e6 - systemClock.now();
  const ahead = other.now - other.shared - other.slept + own;
  return {
    now: () => systemClock.now() + ahead + sign.slept,
    setTimer: (fn, ms, background) => systemClock.setTimer(fn, ms, background),
  };
}
