import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import type { Clock, Timer } from '../core/clock.js';

/** Kept from the start: the fake timers of a test runner replace the global one. */
const nextTurn = setImmediate;

/** After so many turns of the event loop in which no timer came due, promises are taken to have settled. */
const QUIET_TURNS = 3;

/** After so many without a rest, there will be none. */
const MOST_TURNS = 200_000;

/** Fires in the async context in which it was set, as a timer of Node. */
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

  /** It keeps no process alive: Jest asks when it looks for open handles. */
  hasRef(): boolean {
    return false;
  }
}

/**
 * Time that stands still until a test lets it pass. What is due now happens by itself, one timer in each turn of the event
 * loop, so that a test need not wind the clock for a lock that is free.
 *
 * It uses no timer of Node, and so keeps no process alive, and does not mind fake ones.
 */
export class TestingClock implements Clock {
  #now = 0;
  /** By time, then by age. */
  readonly #timers: PendingTimer[] = [];
  #isTurning = false;
  #lastAdvance: Promise<void> = Promise.resolve();

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
   * Lets `ms` pass; promises settle before, between two timers, and after. Calls that overlap add up.
   *
   * Rejects when they never settle, because something is set again and again for now.
   */
  advance(ms: number): Promise<void> {
    const advance = this.#lastAdvance.then(() => this.#advance(ms));
    this.#lastAdvance = advance.catch(() => {}); // told once
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
      if (turn === MOST_TURNS)
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
    if (!this.#isDue) return; // cancelled meanwhile
    const timer = this.#timers.shift();
    this.#turnIfDue(); // arranged before the call, which may throw
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
