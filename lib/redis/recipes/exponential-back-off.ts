import type { BackOff } from './back-off.js';
import { validateDelay } from './validate-delay.js';

/** Options of an {@link ExponentialBackOff}. */
export interface ExponentialBackOffOptions {
  /**
   * In ms.
   *
   * @default 1
   */
  readonly initialDelay?: number;
  /**
   * In ms.
   *
   * @default 128
   */
  readonly maxDelay?: number;
  /**
   * From 1.
   *
   * @default 2
   */
  readonly multiplier?: number;
}

/**
 * Each delay is `multiplier` times the one before, and a little more by chance, the more the longer it goes on: Redisson's
 * class of that name, with its defaults.
 */
export class ExponentialBackOff implements BackOff {
  readonly #initialDelay: number;
  readonly #maxDelay: number;
  readonly #multiplier: number;

  /**
   * @param random from 0 to below 1
   * @throws LockOptionsError
   */
  constructor(
    { initialDelay = 1, maxDelay = 128, multiplier = 2 }: ExponentialBackOffOptions = {},
    private readonly random: () => number = Math.random,
  ) {
    validateDelay('initialDelay', initialDelay, 1);
    validateDelay('maxDelay', maxDelay, initialDelay);
    validateDelay('multiplier', multiplier, 1);
    this.#initialDelay = initialDelay;
    this.#maxDelay = maxDelay;
    this.#multiplier = multiplier;
  }

  delays(): () => number {
    let next = this.#initialDelay;
    let fails = 0;
    return () => {
      const delay = Math.min(next, this.#maxDelay);
      fails += 1;
      next = delay * this.#multiplier + Math.floor(this.random() * fails);
      return delay;
    };
  }
}
