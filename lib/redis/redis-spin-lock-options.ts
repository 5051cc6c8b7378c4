import type { BackOff } from './recipes/back-off.js';

/** Options of a spin lock. */
export interface RedisSpinLockOptions {
  /**
   * The delays between two questions: `ExponentialBackOff`, `ConstantBackOff`, or one of your own. None is longer than the
   * holder's lease.
   *
   * @default new ExponentialBackOff()
   */
  readonly backOff?: BackOff;
}
