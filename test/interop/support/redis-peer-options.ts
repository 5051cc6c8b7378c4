/** What a peer on Redis is set to. */
export interface RedisPeerOptions {
  /** How long its renewed leases last at a time, in ms. Default 30,000. */
  readonly watchdogTimeout?: number;
  /** Are the servers independent, so that each lock is one on a majority of them? Default false. */
  readonly isRedLock?: boolean;
}
