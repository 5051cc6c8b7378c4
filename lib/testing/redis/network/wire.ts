import type { Clock } from '../../../core/clock.js';

/** One direction of a connection. */
export interface Way {
  /** @param words those of a command, or what the client does with the connection */
  send(message: () => void, words?: readonly string[]): void;
  /** Nothing arrives; the returned function ends that. */
  block(): () => void;
  /** Loses what is under way. */
  drop(): void;
}

/** What is sent arrives later, in order. */
export class Wire implements Way {
  /** What is under way, in its order: each arrival takes the first. */
  #messages: (() => void)[] = [];
  /** Number of arrivals that a blockade holds up. */
  #held = 0;
  #blockades = 0;
  #lastArrival = 0;
  /** How often what was under way was lost. */
  #losses = 0;

  /** @param latency of the next message, in ms */
  constructor(
    private readonly clock: Clock,
    private readonly latency: () => number,
  ) {}

  send(message: () => void): void {
    this.#messages.push(message);
    this.#schedule();
  }

  block(): () => void {
    this.#blockades += 1;
    return () => {
      this.#blockades -= 1;
      if (this.#blockades > 0) return;
      for (; this.#held > 0; this.#held -= 1) this.#schedule();
    };
  }

  drop(): void {
    this.#losses += 1;
    this.#messages = [];
    this.#held = 0;
  }

  #schedule(): void {
    const now = this.clock.now();
    this.#lastArrival = Math.max(this.#lastArrival, now + this.latency());
    const losses = this.#losses;
    const arrive = () => {
      if (losses !== this.#losses) return;
      if (this.#blockades > 0) this.#held += 1;
      else this.#messages.shift()!();
    };
    this.clock.setTimer(arrive, this.#lastArrival - now);
  }
}
