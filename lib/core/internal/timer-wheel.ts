import type { Clock, Timer } from '../clock.js';
import { SwapRemoveSet } from './swap-remove-set.js';

/** Interval between checks of new timers, in ms. */
const TICK = 200;

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
 * does not keep the process alive.
 *
 * Invariant: a pending timer is set on that clock, or is checked before its time; if the event loop was blocked, in the turn
 * in which it would have fired.
 */
export class TimerWheelClock implements Clock {
  #young = new SwapRemoveSet<Pending>();
  #old = new SwapRemoveSet<Pending>();
  #isTicking = false;

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now();
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
    for (const pending of old) this.#arm(pending);
    for (const pending of young)
      if (pending.at > this.now() + 2 * TICK) this.#put(pending, this.#old);
      else this.#arm(pending);
  }

  #arm(pending: Pending): void {
    const { fn, at, background, isCancelled } = pending;
    if (isCancelled) return; // by a timer that has fired in this tick
    const ms = at - this.now();
    if (ms <= 0) fn();
    else pending.timer = this.clock.setTimer(fn, ms, background);
  }
}
