/** What the servers know of a semaphore. */
export interface SemaphoreState {
  /** Permits that are held. */
  readonly held: number;
  /** How many wait, each as `queue` has it. */
  readonly waiting: number;
  /** Permits that the first waiter asks for. Default 1. */
  readonly next?: number;
}
