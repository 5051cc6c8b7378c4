import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Clock, Timer } from '../../lib/core/clock.js';

/** A promise with its two ends in the hands of the test. */
export class Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve!: (value: T | PromiseLike<T>) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/**
 * The soonest after which a timer of `ms` may fire, in ms: Node reckons from a clock of whole milliseconds, which may be another
 * one behind.
 */
export const earliest = (ms: number): number => ms - 2;

/** How patiently {@link eventually} waits. */
export interface EventuallyOptions {
  /** Longest wait in milliseconds. Default 10 000. */
  within?: number;
  /** Pause between two looks in milliseconds. Default 10. */
  every?: number;
}

type Falsy = false | 0 | '' | null | undefined;

/**
 * Looks again and again until `probe` returns something truthy without throwing, and returns that.
 *
 * @param what the awaited condition in words, for the message when it does not come true
 * @throws when the time is up, with what was last seen: the falsy value, or the error as `cause`
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Falsy | Promise<T | Falsy>,
  { within = 10_000, every = 10 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    const [seen, error] = await attempt(probe);
    if (seen) return seen;
    if (performance.now() >= deadline) {
      const last = error === undefined ? inspect(seen) : inspect(error);
      throw new Error(`Not within ${within} ms: ${what}. Last seen: ${last}`, { cause: error });
    }
    await delay(every);
  }
}

async function attempt<T>(probe: () => T | Promise<T>): Promise<[T?, unknown?]> {
  try {
    return [await probe()];
  } catch (error) {
    return [undefined, error];
  }
}

/** In ms. A waiter for a lock of Redis that does not listen to messages looks every 500 ms. */
const LONGER_THAN_A_SLEEP = 600;

/** Resolves once nothing was asked for longer than such a waiter sleeps: from now on only a message wakes it. */
export async function calm(asked: () => number | Promise<number>): Promise<void> {
  let before = -1;
  const isCalm = async () => before === (before = await asked());
  await eventually('no client asks any more', isCalm, { every: LONGER_THAN_A_SLEEP });
}

/** Is the promise settled by the next turn of the event loop? Rejects as the promise does. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, nextTurn(pending)])) !== pending;
}

/** The process is seen to run at most this often, in ms. */
const TICK = 5;

/**
 * Resolves when something is reported, to the last time before that at which this process was seen to run, in ms since 1970.
 * What was reported late because the process did not run (the machine was busy, garbage was collected) counts as reported in
 * time: no work acts on a lease in a process that does not run.
 *
 * @param listen calls `told` when it is reported
 */
export function toldAt(listen: (told: () => void) => void): Promise<number> {
  return new Promise((resolve) => {
    let [before, now] = [Date.now(), Date.now()];
    // After a stall a tick may come before the news, in the same turn: so the time of the one before that counts.
    const ticks = setInterval(() => ([before, now] = [now, Date.now()]), TICK).unref();
    listen(() => {
      clearInterval(ticks);
      resolve(before);
    });
  });
}

interface VirtualTimer {
  at: number;
  readonly fn: () => void;
  isCancelled: boolean;
}

/**
 * Time that passes only when a test says so. Timers fire in the order of their times, those of one time in the order
 * they were set; between two of them everything that waits on promises and `setImmediate` gets its turn. So a run depends
 * on nothing but its inputs.
 */
export class VirtualClock implements Clock {
  #now = 0;
  /** By time, then by age. */
  readonly #timers: VirtualTimer[] = [];
  #asleep = { noticed: 0, unnoticed: 0 };

  now(): number {
    return this.#now;
  }

  setTimer(fn: () => void, ms: number): Timer {
    const timer: VirtualTimer = { at: this.#now + Math.max(0, ms), fn, isCancelled: false };
    this.#timers.splice(this.#placeFor(timer.at), 0, timer);
    return { cancel: () => void (timer.isCancelled = true) };
  }

  /** Are there no timers left? Then nothing will ever happen again by itself. */
  get isIdle(): boolean {
    return this.#next() === undefined;
  }

  /** When the next timer fires; none if there is no timer left. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Lets `ms` pass. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next())
      await this.#fire(next);
    this.#now = Math.max(this.#now, end);
  }

  /** Lets `ms` pass as they do in a process with a blocked event loop: timers that come due fire only afterwards. */
  stall(ms: number): void {
    this.#now += ms;
  }

  /** Lets the machine sleep: neither `now` nor the timers know of it, until it is noticed. */
  sleep(ms: number): void {
    this.#asleep.unnoticed += ms;
  }

  noticeSleep(): number {
    const { noticed, unnoticed: ms } = this.#asleep;
    this.#now += ms;
    for (const timer of this.#timers) timer.at += ms;
    this.#asleep = { noticed: noticed + ms, unnoticed: 0 };
    return noticed + ms;
  }

  /**
   * Lets time pass until the promise settles, and settles like it; or until the condition is true.
   *
   * @param limit the longest that it may take, in milliseconds of virtual time
   * @throws when it takes longer, and when there are no timers left: nothing can end the wait any more
   */
  async runUntil<T>(awaited: Promise<T>, limit?: number): Promise<T>;
  async runUntil(awaited: () => boolean, limit?: number): Promise<void>;
  async runUntil<T>(awaited: Promise<T> | (() => boolean), limit = Infinity): Promise<T | void> {
    const end = this.#now + limit;
    const isOver = typeof awaited === 'function' ? awaited : settledFlag(awaited);
    await settle();
    for (;;) {
      if (isOver()) return typeof awaited === 'function' ? undefined : awaited;
      const next = this.#next();
      if (!next)
        throw new Error(`Deadlock at ${this.#now} ms: nothing is left that could end the wait`);
      if (next.at > end) throw new Error(`Not over within ${limit} ms of virtual time`);
      await this.#fire(next);
    }
  }

  async #fire(timer: VirtualTimer): Promise<void> {
    this.#timers.shift();
    this.#now = Math.max(this.#now, timer.at);
    timer.fn();
    await settle();
  }

  /** The first timer that is still to fire. */
  #next(): VirtualTimer | undefined {
    while (this.#timers[0]?.isCancelled) this.#timers.shift();
    return this.#timers[0];
  }

  #placeFor(at: number): number {
    let [low, high] = [0, this.#timers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#timers[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Lets all promise continuations run, and what they put off to the end of the turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function settledFlag(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settled = () => void (isSettled = true);
  promise.then(settled, settled);
  return () => isSettled;
}
