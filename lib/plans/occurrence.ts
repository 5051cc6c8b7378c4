import { LockOptionsError } from '../core/index.js';
import type { CronOccurrence, Occurrence } from '../interfaces/lock-method-options.interface.js';

/** Returns the occurrence that a call at that time (ms since 1970) belongs to, in ms since 1970. */
export type OccurrenceOf = (calledOn: number) => number;

/**
 * Timers may fire a little early: Node counts whole milliseconds of another clock. A call this much before an occurrence
 * belongs to it, in ms; without that, it would be taken for one of the occurrence before, which has been run.
 */
const EARLINESS = 100;

/** Times beyond this are no dates, in ms since 1970. */
const END_OF_TIME = 8.64e15;

const EXPECTED =
  'whole milliseconds above 0, a cron expression, `{ cron, timeZone }`, or a function that returns the time of the occurrence';

/** @throws LockOptionsError; cron expressions are checked by `compileOccurrence` */
export function validateOccurrence(occurrence: unknown): asserts occurrence is Occurrence {
  if (typeof occurrence === 'function') return;
  if (Number.isSafeInteger(occurrence) && (occurrence as number) > 0) return;
  const { cron, timeZone } = cronOf(occurrence);
  const isZone = timeZone === undefined || typeof timeZone === 'string';
  if (typeof cron === 'string' && cron.trim() !== '' && isZone) return;
  throw new LockOptionsError('occurrence', occurrence, EXPECTED);
}

/**
 * Returns the function that an option stands for.
 *
 * Rejects with `LockOptionsError` for a cron expression that is invalid, or for which the package `cron` is not installed.
 */
export async function compileOccurrence(occurrence: Occurrence): Promise<OccurrenceOf> {
  if (typeof occurrence === 'number') {
    const early = Math.min(EARLINESS, occurrence / 2);
    return (calledOn) => Math.floor((calledOn + early) / occurrence) * occurrence;
  }
  if (typeof occurrence === 'function')
    return (calledOn) => timeOf(occurrence(new Date(calledOn + EARLINESS)));
  const schedule = await CronSchedule.load(occurrence);
  return (calledOn) => schedule.latest(calledOn + EARLINESS);
}

/** @throws LockOptionsError */
function timeOf(returned: unknown): number {
  const time = returned instanceof Date ? returned.getTime() : returned;
  if (Number.isInteger(time) && Math.abs(time as number) <= END_OF_TIME) return time as number;
  const expected = 'a function that returns a `Date`, or whole milliseconds since 1970';
  throw new LockOptionsError('occurrence', returned, expected);
}

function cronOf(occurrence: unknown): Partial<CronOccurrence> {
  if (typeof occurrence === 'string') return { cron: occurrence };
  return typeof occurrence === 'object' && occurrence !== null ? occurrence : {};
}

/** The used part of the package `cron`. */
interface Cron {
  readonly CronTime: new (
    expression: string,
    timeZone: string,
  ) => { getNextDateFrom(start: Date, timeZone: string): { toMillis(): number } };
}

/** Largest number of steps from the last known time before the latest is searched for anew. */
const STEPS = 3;
/** Cron times are whole seconds. */
const RESOLUTION = 500;
/** Longest time between two occurrences, in ms: from one 29th of February to the next, around 2100. */
const LONGEST_PAUSE = 8.1 * 366 * 86_400_000;

/**
 * The times of a cron expression, as the package `cron` computes them: with it `@nestjs/schedule` fires its timers, and another
 * parser would disagree when the clocks change. That package only looks ahead.
 */
class CronSchedule {
  #last = Infinity;

  private constructor(private readonly next: (time: number) => number) {}

  static async load(occurrence: string | CronOccurrence): Promise<CronSchedule> {
    const refuse = (expected: string, cause: unknown): never => {
      throw new LockOptionsError('occurrence', occurrence, expected, { cause });
    };
    const { cron = '', timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } =
      cronOf(occurrence);
    const { CronTime } = await loadCron((cause) =>
      refuse(
        'a cron expression only where the package `cron` is installed: run `npm install cron`, or give a function',
        cause,
      ),
    );
    try {
      const time = new CronTime(cron, timeZone);
      const schedule = new CronSchedule((from) =>
        time.getNextDateFrom(new Date(from), timeZone).toMillis(),
      );
      schedule.next(Date.now()); // throws if there is none
      schedule.latest(Date.now()); // searches now, so that no call has to
      return schedule;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.split('\n')[0] : '';
      return refuse(`a cron expression and a time zone that exist (${why})`, cause);
    }
  }

  /** The latest occurrence up to `now`; 0 if there was none for years. */
  latest(now: number): number {
    for (let step = 0, time = this.#last; time <= now && step <= STEPS; step++) {
      const next = this.next(time);
      if (next > now) return (this.#last = time);
      time = next;
    }
    return (this.#last = this.#search(now));
  }

  #search(now: number): number {
    let after = 0; // the next one from this long ago is after now
    let before = 2 * RESOLUTION; // and from this long ago it is not
    while (this.next(now - before) > now) {
      after = before;
      before *= 4;
      if (before > 4 * LONGEST_PAUSE) return 0;
    }
    while (before - after > RESOLUTION) {
      const middle = (before + after) / 2;
      if (this.next(now - middle) > now) after = middle;
      else before = middle;
    }
    return this.next(now - before);
  }
}

async function loadCron(refuse: (cause: unknown) => never): Promise<Cron> {
  try {
    return await import('cron'); // in a try statement, bundlers accept that it is not installed
  } catch (cause) {
    return refuse(cause);
  }
}
