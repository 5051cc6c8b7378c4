/** What a change of a distributed atomic number took; Curator's class of that name. */
export interface AtomicStats {
  /** How often it was tried without the lock. */
  readonly optimisticTries: number;
  /** How long that took, in ms. */
  readonly optimisticTimeMs: number;
  /** How often it was tried inside of the lock; 0: it was not needed. */
  readonly promotedLockTries: number;
  /** How long that took, the wait for the lock included, in ms. */
  readonly promotedTimeMs: number;
}
