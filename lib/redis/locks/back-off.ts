import { LockOptionsError } from '../../core/errors/index.js';

/** Delays between the attempts of a waiter for a spin lock. */
export interface BackOff {
  /** Returns a new function for each acquire, which returns the next delay in ms at each call. */
  delays(): () => number;
}

/**
 * Delays of about the same length, each randomly up to a quarter longer or shorter, so that waiters do not all ask at once.
 * Redisson's class of the same name.
 */
export class ConstantBackOff implements BackOff {
  /**
   * @param delay in ms, at least 1
   * @param random returns a number from 0 to below 1
   * @throws LockOptionsError
   */
  constructor(
    private readonly delay = 64,
    private readonly random: () => number = Math.random,
  ) {
    validateDelay('delay', delay, 1);
  }

  delays(): () => number {
    return () => this.delay * (0.75 + this.random() / 2);
  }
}

/** Options of an {@link ExponentialBackOff}. */
export interface ExponentialBackOffOptions {
  /**
   * First delay, in ms.
   *
   * @default 1
   */
  readonly initialDelay?: number | undefined;
  /**
   * Longest delay, in ms.
   *
   * @default 128
   */
  readonly maxDelay?: number | undefined;
  /**
   * Factor from one delay to the next, at least 1.
   *
   * @default 2
   */
  readonly multiplier?: number | undefined;
}

/**
 * Each delay is `multiplier` times the previous one plus a small random part, which grows with the number of attempts.
 * Redisson's class of the same name, with its defaults.
 */
export class ExponentialBackOff implements BackOff {
  readonly #initialDelay: number;
  readonly #maxDelay: number;
  readonly #multiplier: number;

  /**
   * @param random returns a number from 0 to below 1
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

/** @throws LockOptionsError unless `value` is a number of at least `least` that a timer accepts */
function validateDelay(option: string, value: unknown, least: number): void {
  const isInRange = typeof value === 'number' && value >= least && value < 2 ** 31;
  if (!isInRange) throw new LockOptionsError(option, value, `a number from ${least} to 2^31`);
}
