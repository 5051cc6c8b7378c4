import type { Clock } from '../../lib/core/clock.js';
import type { Network } from './network.js';

/** One direction of a simulated connection: messages arrive in the order sent, each after its latency. */
export class DelayedChannel {
  #underway: (() => void)[] = [];
  #lastArrival = 0;
  /** How many are due but held back by a partition. */
  #held = 0;
  #isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly network: Network,
  ) {}

  send(message: () => void): void {
    if (this.#isClosed) return;
    const now = this.clock.now();
    this.#lastArrival = Math.max(this.#lastArrival, now + this.network.latency());
    this.#underway.push(message);
    this.clock.setTimer(() => this.#arrive(), this.#lastArrival - now);
  }

  /** The partition is over: what was held arrives. */
  release(): void {
    const held = this.#held;
    this.#held = 0;
    for (let left = held; left > 0; left--) this.#arrive();
  }

  /** What is sent from now on is lost; what is under way too, unless it is to be delivered at once. */
  close(deliver = false): void {
    this.#isClosed = true;
    const underway = this.#underway;
    this.#underway = [];
    if (deliver) for (const message of underway) message();
  }

  #arrive(): void {
    if (this.network.isPartitioned) this.#held += 1;
    else this.#underway.shift()?.();
  }
}
