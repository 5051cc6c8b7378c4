/** Decides, as in Curator, whether an operation that failed for want of a connection is tried again, and when. */
export interface RetryPolicy {
  /**
   * @param retries how often it was tried again already, from 0
   * @param elapsedMs time since the first try
   * @returns milliseconds to sleep before the next try, or `undefined`: give up
   */
  nextDelay(retries: number, elapsedMs: number): number | undefined;
}
