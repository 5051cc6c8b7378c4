/** Options of a semaphore on Redis. */
export interface RedisSemaphoreOptions {
  /**
   * How many permits there are: a whole number from 1 to 2^31 - 1. It is set where the semaphore is new, and where it differs
   * from what the clients of this library last said: so a deployment with another number changes it. A number that was set by
   * Redisson, or with `setPermits`, stays.
   *
   * @default as many as there are on the server: none, until somebody sets them
   */
  readonly permits?: number;
  /**
   * Are waiters of this library served in the order of coming? Redisson's, and clients without the option, go ahead of them.
   *
   * @default false
   */
  readonly fair?: boolean;
}
