import { type Clock, systemClock } from '../clock.js';
import type { EventLoopStall } from '../errors/index.js';
import { LeaseScope } from './lease-scope.js';

/** Interval between two looks, in ms: a stall lasts up to that much longer than it is said to. */
const EVERY = 250;
/** Shortest stall that is remembered, in ms: shorter ones take no lock away, but where leases are made very short. */
const SHORTEST = 2_000;
/** Most stalls that are remembered; the oldest is forgotten first. */
const MOST = 16;

/**
 * When the event loop of this process ran nothing: it was blocked, the process stood still, or the machine slept. That is why most
 * locks are lost whose servers are well. A timer looks for it while a lock is held.
 *
 * Invariant: one timer is pending while `#dueAt` is finite, and none otherwise.
 */
export class EventLoopStalls {
  /** Of this process. */
  static readonly shared = new EventLoopStalls(systemClock);
  #holds = 0;
  /** When the next look is due; `Infinity` while none is. */
  #dueAt = Infinity;
  readonly #stalls: (Omit<EventLoopStall, 'agoMs'> & { readonly endedAt: number })[] = [];
  /** All sleep of the machine that was seen. */
  #asleep: number;
  readonly #onSleep = new Set<() => void>();

  constructor(private readonly clock: Clock) {
    this.#asleep = clock.noticeSleep?.() ?? 0;
  }

  /** A lock is held from now on; call `end` once when it is free. */
  begin(): void {
    this.#holds += 1;
    if (this.#dueAt === Infinity) LeaseScope.runOutside(() => this.#lookLater());
  }

  end(): void {
    this.#holds -= 1;
  }

  /**
   * Calls `listener` when the machine has slept while a lock was held: the timers of that time have not fired yet. The returned function
   * removes it.
   */
  onSleep(listener: () => void): () => void {
    this.#onSleep.add(listener);
    return () => void this.#onSleep.delete(listener);
  }

  /** The longest one of the last `age` ms, also if it has just ended, and no timer has run yet. */
  longestWithin(age: number): EventLoopStall | undefined {
    this.#look();
    const now = this.clock.now();
    let longest: EventLoopStall | undefined;
    for (const { ms: whole, asleepMs: asleep, endedAt } of this.#stalls) {
      const agoMs = now - endedAt;
      const ms = Math.min(whole, age - agoMs);
      const asleepMs = Math.min(asleep, ms);
      if (ms >= Math.max(SHORTEST, longest?.ms ?? 0)) longest = { ms, agoMs, asleepMs };
    }
    return longest;
  }

  #lookLater(): void {
    this.#dueAt = this.clock.now() + EVERY;
    const look = () => {
      this.#look();
      if (this.#holds > 0) this.#lookLater();
      else this.#dueAt = Infinity;
    };
    this.clock.setTimer(look, EVERY, true);
  }

  #look(): void {
    const asleepMs = (this.clock.noticeSleep?.() ?? 0) - this.#asleep;
    const now = this.clock.now();
    const ms = now - this.#dueAt;
    this.#asleep += asleepMs;
    if (ms >= SHORTEST) {
      this.#stalls.push({ ms, asleepMs, endedAt: now });
      if (this.#stalls.length > MOST) this.#stalls.shift();
      this.#dueAt = now; // the timer, which has not fired yet, finds no other one
    }
    if (asleepMs > 0) for (const listener of [...this.#onSleep]) LeaseScope.runOutside(listener);
  }
}
