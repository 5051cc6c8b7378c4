/** Options of `@RunOnce`. Times in whole milliseconds. */
export interface RunOnceOptions {
  /**
   * The longest that one run may keep the others out, from 1 to 2^31 - 1: then its lock is given up, and its `signal` aborts,
   * although the method may still run. Choose it far above what a run takes.
   */
  readonly atMost: number;
  /**
   * The least that one run keeps the others out, from 0 to below `atMost`: more than the clocks of the replicas differ, so that
   * a run that is short is not done again by one whose clock is late.
   *
   * @default 0
   */
  readonly atLeast?: number;
  /**
   * Name of the lock client.
   *
   * @default that of `@LockDefaults`, else 'default'
   */
  readonly client?: string;
}
