import type { Clock } from '../../core/clock.js';

/** A hold that is to be watched once it has lasted. */
export interface WatchableHold {
  /** On the client's clock. */
  readonly heldSince: number;
  watch(): void;
}

/**
 * Has the holds watched that last longer than `after` milliseconds; shorter ones do not pay for the request.
 *
 * One timer for all of them: to start and stop one for every hold would cost more than the rest of an acquire.
 */
export class DelayedWatches {
  /** Oldest first. */
  readonly #waiting = new Set<WatchableHold>();
  #isTicking = false;

  constructor(
    private readonly clock: Clock,
    private readonly after: number,
  ) {}

  add(hold: WatchableHold): void {
    this.#waiting.add(hold);
    if (!this.#isTicking) this.#tickIn(this.after);
  }

  remove(hold: WatchableHold): void {
    this.#waiting.delete(hold);
  }

  #tickIn(ms: number): void {
    this.#isTicking = true;
    this.clock.setTimer(() => this.#tick(), ms, true);
  }

  #tick(): void {
    this.#isTicking = false;
    for (const hold of this.#waiting) {
      const remaining = hold.heldSince + this.after - this.clock.now();
      if (remaining > 0) return this.#tickIn(remaining);
      this.#waiting.delete(hold);
      hold.watch();
    }
  }
}
