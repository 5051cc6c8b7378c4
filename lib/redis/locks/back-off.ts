import { LockOptionsError } from '../../core/errors/index.js';

/** How long who waits for a spin lock sleeps before it asks again. */
export interface BackOff {
  /** A function that tells the next delay in ms each time it is called; a new one for each acquire. */
  delays(): () => number;
}

/**
 * Delays of about the same length, Redisson's class of that name; by chance up to a quarter longer or shorter, so that not
 * all ask at once.
 */
export class ConstantBackOff implements BackOff {
  /**
   * @param delay in ms, from 1
   * @param random from 0 to below 1
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

/** @throws LockOptionsError unless it is a number of that size, and a timer can take it */
export function validateDelay(option: string, value: unknown, least: number): void {
  const isInRange = typeof value === 'number' && value >= least && value < 2 ** 31;
  if (!isInRange) throw new LockOptionsError(option, value, `a number from ${least} to 2^31`);
}
