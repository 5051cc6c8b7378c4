import type { PermitOptions } from '../../core/lock.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';

/** Options of an acquire on a semaphore on Redis. */
export interface RedisPermitOptions extends RedisAcquireOptions, PermitOptions {
  /**
   * How many permits to take, all together or none: a whole number from 1 to what the semaphore has, and to 10,000. The server
   * keeps each permit by itself; where a permit stands for something small, as a byte or a row, let it stand for many.
   *
   * @default 1
   */
  readonly permits?: number;
}
