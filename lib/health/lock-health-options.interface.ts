/** Options of `LockHealthIndicator.pingCheckAll`. */
export interface LockHealthOptions {
  /**
   * How long an answer of the servers is waited for, in milliseconds.
   *
   * @default 1,000
   */
  readonly timeout?: number;
  /**
   * The health from which on the check fails. A client is `degraded` while it reconnects and what it holds may still be held,
   * and when a minority of its independent Redis servers is away.
   *
   * @default 'down'
   */
  readonly failOn?: 'degraded' | 'down';
}
