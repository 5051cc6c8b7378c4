import type { BackOff } from './back-off.js';
import { validateDelay } from './validate-delay.js';

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
