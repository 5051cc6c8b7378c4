import type { Clock, Timer } from './clock.js';
import { inTurns, nextTurn } from './internal/timers.js';
import { SwapRemoveSet } from './collections/swap-remove-set.js';

/** Interval between checks of new timers, in ms. */
const TICK = 200;
/** Maximum number of timers that fire in one turn of the event loop. */
const AT_ONCE = 200;

interface Pending {
  readonly fn: () => void;
  readonly at: number;
  readonly background: boolean;
  isCancelled: boolean;
  leave: () => void;
  timer?: Timer;
}

/**
 * A clock for timers that are mostly cancelled at once: the deadline of a wait that is answered, of a lease that is released.
 * A timer is passed to the underlying clock when it has lived for 200 to 400 ms; before that it costs next to nothing, and
 * does not keep the process alive. Of many that are due at once, such as the ends of leases and waits that began together, 200
 * fire in one turn of the event loop.
 *
 * Invariant: a pending timer is set on that clock, or is checked before its time; if the event loop was blocked, in the turn
 * in which it would have fired. One that is due fires at once, or is behind others that were due before it.
 */
export class TimerWheelClock implements Clock {
  #young = new SwapRemoveSet<Pending>();
  #old = new SwapRemoveSet<Pending>();
  #isTicking = false;
  /** Those that are due, and how many of them have fired. */
  readonly #due: Pending[] = [];
  #fired = 0;
  #leftInTurn = AT_ONCE;
  #isCounting = false;

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now();
  }

  noticeSleep(): number {
    return this.clock.noticeSleep?.() ?? 0;
  }

  setTimer(fn: () => void, ms: number, background = false): Timer {
    if (ms <= 2 * TICK) return this.clock.setTimer(fn, ms, background);
    const at = this.clock.now() + ms;
    const pending: Pending = { fn, at, background, isCancelled: false, leave() {} };
    this.#put(pending, this.#young);
    return {
      cancel() {
        pending.isCancelled = true;
        pending.leave();
        pending.timer?.cancel();
      },
    };
  }

  #put(pending: Pending, bag: SwapRemoveSet<Pending>): void {
    pending.leave = bag.add(pending);
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.clock.setTimer(() => this.#tick(), TICK, true);
  }

  #tick(): void {
    const [old, young] = [this.#old, this.#young];
    this.#old = new SwapRemoveSet();
    this.#young = new SwapRemoveSet();
    this.#isTicking = false;
    void inTurns(old, (pending) => this.#arm(pending));
    void inTurns(young, (pending) => {
      if (pending.at > this.now() + 2 * TICK) this.#put(pending, this.#old);
      else this.#arm(pending);
    });
  }

  #arm(pending: Pending): void {
    const { at, background, isCancelled } = pending;
    if (isCancelled) return; // by a timer that has fired in this tick
    const ms = at - this.now();
    if (ms <= 0) this.#fire(pending);
    else pending.timer = this.clock.setTimer(() => this.#fire(pending), ms, background);
  }

  #fire(pending: Pending): void {
    if (!this.#isCounting) {
      this.#isCounting = true;
      nextTurn(() => this.#turn());
    }
    this.#due.push(pending);
    if (this.#due.length - this.#fired === 1) this.#fireDue();
  }

  #turn(): void {
    this.#leftInTurn = AT_ONCE;
    this.#isCounting = this.#due.length > 0;
    if (!this.#isCounting) return;
    nextTurn(() => this.#turn()); // also if one of them throws
    this.#fireDue();
  }

  #fireDue(): void {
    while (this.#leftInTurn > 0 && this.#fired < this.#due.length) {
      const { isCancelled, fn } = this.#due[this.#fired++]!;
      if (isCancelled) continue;
      this.#leftInTurn -= 1;
      fn();
    }
    if (this.#fired < this.#due.length) return;
    this.#due.length = this.#fired = 0;
  }
}
