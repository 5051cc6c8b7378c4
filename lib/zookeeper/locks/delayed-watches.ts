import { OrderedSet } from '../../core/collections/ordered-set.js';
import type { Clock } from '../../core/clock.js';

/** A hold to be watched once it has lasted long enough. */
export interface WatchableHold {
  /** Time of the grant by the servers, by the client's clock. */
  readonly grantedAt: number;
  watch(): void;
}

/**
 * Watches the holds that last longer than `after` milliseconds; shorter ones are spared the request.
 *
 * One timer serves all holds: starting and stopping one for every hold would cost more than the rest of an acquire.
 */
export class DelayedWatches {
  /** Holds not yet watched, the oldest first. */
  readonly #waiting = new OrderedSet<WatchableHold>();
  #isTicking = false;

  constructor(
    private readonly clock: Clock,
    private readonly after: number,
  ) {}

  /** Adds the hold; the returned function removes it. One that was handed on may be old enough. */
  add(hold: WatchableHold): () => void {
    if (hold.grantedAt + this.after < this.clock.now()) {
      hold.watch();
      return () => {};
    }
    const remove = this.#waiting.add(hold);
    if (!this.#isTicking) this.#tickIn(this.after);
    return remove;
  }

  #tickIn(ms: number): void {
    this.#isTicking = true;
    this.clock.setTimer(() => this.#tick(), ms, true);
  }

  #tick(): void {
    this.#isTicking = false;
    for (let hold = this.#waiting.first; hold; hold = this.#waiting.first) {
      const remaining = hold.grantedAt + this.after - this.clock.now();
      if (remaining > 0) return this.#tickIn(remaining);
      this.#waiting.shift();
      hold.watch();
    }
  }
}
