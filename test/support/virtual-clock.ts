import type { Clock, Timer } from '../../lib/core/clock.js';

interface VirtualTimer {
  readonly at: number;
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
