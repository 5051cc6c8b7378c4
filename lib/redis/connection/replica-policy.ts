/** On how many replicas a grant must be before it counts: Redis replicates later, and a failover may forget a lock. */
export interface ReplicaPolicy {
  /** So many replicas must have acknowledged it; a whole number from 1. */
  readonly atLeast: number;
  /**
   * How long to wait for them, in ms; above 0. The connection that the commands go through answers nothing else meanwhile.
   *
   * @default 1000
   */
  readonly timeout?: number;
  /**
   * When there are fewer: give the lock back and reject with `LockConnectionError`, or grant it with a process warning.
   *
   * @default 'fail'
   */
  readonly otherwise?: 'fail' | 'warn';
}
