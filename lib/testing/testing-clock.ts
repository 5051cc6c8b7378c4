import { AsyncResource } from 'node:async_hooks';
import { nextTurn } from '../core/internal/timers.js';
import type { Clock, Timer } from '../core/clock.js';

/** Consecutive turns of the event loop without a due timer after which promises are assumed to have settled. */
const QUIET_TURNS = 3;

/** Fires in the async context in which it was set, like a timer of Node. */
class PendingTimer extends AsyncResource {
  constructor(
    readonly at: number,
    private readonly fn: () => void,
  ) {
    super('LockTestingTimer');
  }

  fire(): void {
    this.runInAsyncScope(this.fn);
  }

  /** False, because it keeps no process alive; Jest calls this when it looks for open handles. */
  hasRef(): boolean {
    return false;
  }
}

/**
 * Virtual time that stands still until a test advances it. A timer that is due now fires by itself, one in each turn of the
 * event loop, so that a test need not advance the clock for a lock that is free.
 *
 * It uses no timers of Node, so it keeps no process alive and is not affected by fake timers.
 */
export class TestingClock implements Clock {
  #now = 0;
  /** Ordered by due time, then by age. */
  readonly #timers: PendingTimer[] = [];
  #isTurning = false;
  #lastAdvance: Promise<void> = Promise.resolve();

  /** @param mostTurns turns of the event loop without a quiet period after which promises are assumed never to settle */
  constructor(private readonly mostTurns = 200_000) {}

  now(): number {
    return this.#now;
  }

  setTimer(fn: () => void, ms: number): Timer {
    const at = this.#now + Math.max(0, ms);
    const timer = new PendingTimer(at, fn);
    const place = this.#timers.findLastIndex((other) => other.at <= at) + 1;
    this.#timers.splice(place, 0, timer);
    this.#turnIfDue();
    return { cancel: () => this.#remove(timer) };
  }

  /**
   * Advances time by `ms`; promises settle before, between two timers, and after. Overlapping calls add up.
   *
   * Rejects if promises never settle, because timers that are due now are set again and again.
   */
  advance(ms: number): Promise<void> {
    const advance = this.#lastAdvance.then(() => this.#advance(ms));
    this.#lastAdvance = advance.catch(() => {}); // reported once
    return advance;
  }

  async #advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settled();
    for (let [next] = this.#timers; next && next.at <= end; [next] = this.#timers) {
      this.#now = next.at;
      this.#turnIfDue();
      await this.#settled();
    }
    this.#now = end;
  }

  async #settled(): Promise<void> {
    let quiet = 0;
    for (let turn = 0; quiet < QUIET_TURNS; turn++) {
      if (turn === this.mostTurns)
        throw new Error(
          'Virtual time cannot pass: locks are taken again and again without a pause. Let that end first, or sleep in between.',
        );
      await new Promise<void>((resolve) => nextTurn(resolve));
      quiet = this.#isTurning ? 0 : quiet + 1;
    }
  }

  #turnIfDue(): void {
    if (this.#isTurning || !this.#isDue) return;
    this.#isTurning = true;
    nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurning = false;
    if (!this.#isDue) return; // cancelled in the meantime
    const timer = this.#timers.shift();
    this.#turnIfDue(); // scheduled before the call, which may throw
    timer?.fire();
  };

  get #isDue(): boolean {
    const [next] = this.#timers;
    return next !== undefined && next.at <= this.#now;
  }

  #remove(timer: PendingTimer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }
}
