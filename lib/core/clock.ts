import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

/** A pending timer. */
export interface Timer {
  /** Stops the timer; no effect once it has fired. */
  cancel(): void;
}

/**
 * Monotonic time and timers, injected everywhere so that tests and simulations run on virtual time.
 *
 * It is never set by the wall clock: a clock step must not end or prolong a lock.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start; never decreases. */
  now(): number;
  /**
   * Calls `fn` once, `ms` from now or later: by then `now` has advanced by as much.
   *
   * @param ms delay in milliseconds; any finite number, also above the 2^31 - 1 of `setTimeout`
   * @param background true if the timer alone must not keep the process alive
   */
  setTimer(fn: () => void, ms: number, background?: boolean): Timer;
  /**
   * Adds to `now` what the machine has slept since the last call, and returns the sum of all its sleep in ms. The timers of a
   * machine that sleeps stand still, and fire late by as much.
   *
   * @default nothing: it does not sleep
   */
  noticeSleep?(): number;
  /**
   * Milliseconds since 1970, to be compared with the times of other processes; may be set at any time.
   *
   * @default `Date.now`
   */
  wall?(): number;
}

/** The clocks of a machine, in ms. */
export interface MachineClocks {
  /** It may stand still while the machine sleeps. */
  monotonic(): number;
  wall(): number;
  /** Since the machine was started, with its sleep; to within a second. `NaN` if that is not known. */
  uptime(): number;
}

/** Captured at load time, because fake timers of a test runner replace the global ones. */
const { clearTimeout, setTimeout } = globalThis;
const monotonic = performance.now.bind(performance);
const wall = Date.now;

const machineClocks: MachineClocks = {
  monotonic,
  wall,
  uptime() {
    try {
      return uptime() * 1_000;
    } catch {
      return NaN; // a sandbox may forbid it
    }
  },
};

/** Some machines know their uptime in whole seconds only; in ms. */
const UPTIME_UNIT = 1_000;

/** Shortest sleep that is noticed, in ms. */
const SHORTEST_SLEEP = UPTIME_UNIT;

/** Longest delay that `setTimeout` supports; a longer one fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * The time of a machine, including its sleep, in which leases and sessions end too. Neither `performance.now` nor the timers of
 * Node count that on Linux and macOS.
 *
 * The wall clock jumps when the machine wakes up; reading it is cheap. But it may as well have been set: a sleep counts only if the
 * uptime of the machine has jumped too, which cannot be set.
 */
export class SystemClock implements Clock {
  #slept = 0;
  /** How far the wall clock was ahead of the monotonic one at the last call. */
  #wallAhead: number;
  /** The same for the uptime, less the sleep that was noticed. */
  readonly #uptimeAhead: number;

  constructor(private readonly clocks: MachineClocks = machineClocks) {
    const now = clocks.monotonic();
    this.#wallAhead = clocks.wall() - now;
    this.#uptimeAhead = clocks.uptime() - now;
  }

  now(): number {
    return this.clocks.monotonic() + this.#slept;
  }

  noticeSleep(): number {
    const now = this.clocks.monotonic();
    const ahead = this.clocks.wall() - now;
    const jump = ahead - this.#wallAhead;
    if (Math.abs(jump) < SHORTEST_SLEEP) return this.#slept;
    this.#wallAhead = ahead;
    const slept = this.clocks.uptime() - now - this.#uptimeAhead - this.#slept;
    // The longer one, as the uptime may be rounded down. What the wall clock was set ahead beyond that would hide later sleep.
    if (slept >= SHORTEST_SLEEP)
      this.#slept += Math.min(Math.max(slept, jump), slept + UPTIME_UNIT);
    return this.#slept;
  }

  /** Node rounds down both the time from which it counts and the time that it waits, so a timer of its own fires up to 2 ms early. */
  setTimer(fn: () => void, ms: number, background = false): Timer {
    let remaining = ms > 0 ? Math.ceil(ms) + 1 : 0;
    let handle: NodeJS.Timeout;
    const arm = () => {
      const step = Math.min(remaining, LONGEST_TIMEOUT);
      remaining -= step;
      handle = setTimeout(() => (remaining > 0 ? arm() : fn()), step);
      if (background) handle.unref();
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  }
}

/** The time by which it is judged whether a lease or a session has ended: with all sleep of the machine. */
export function exactNow(clock: Clock): number {
  clock.noticeSleep?.();
  return clock.now();
}

/** The time by the wall clock, in ms since 1970. */
export function wallNow(clock: Clock): number {
  return clock.wall?.() ?? Date.now();
}

/** The clock of this machine. */
export const systemClock: Clock = new SystemClock();
