/** How long to wait: milliseconds, above 0 and finite, or without bound. */
export type Wait = number | 'forever';

/** Options of `acquire` and `using`. */
export interface AcquireOptions {
  /**
   * Bound on everything that comes before the grant: connecting, queueing, every inner lock.
   * Milliseconds, above 0 and finite, or `'forever'`. Default: the client's `wait`, else `'forever'`.
   */
  readonly wait?: Wait;
  /** Ends the wait: it rejects with `LockAbortedError`. It has no effect once the lock is held. */
  readonly signal?: AbortSignal;
  /**
   * Who asks, for operators: shown with the holder where the backend keeps that (Redis). The decorators give class and
   * method.
   */
  readonly method?: string;
}
