/** Settings of a peer on Redis. */
export interface RedisPeerOptions {
  /** Duration of its renewed leases, in ms. Default 30,000. */
  readonly watchdogTimeout?: number;
  /** Whether the servers are independent, so that each lock is one on a majority of them. Default false. */
  readonly isRedLock?: boolean;
}
