/** Options of a semaphore. */
export interface SemaphoreOptions {
  /** How many holders at a time: a whole number from 1 to 2^31 - 1, the same for everybody who uses the semaphore. */
  readonly permits: number;
}
