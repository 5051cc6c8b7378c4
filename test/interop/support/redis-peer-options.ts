/** What a peer on Redis is set to. */
export interface RedisPeerOptions {
  /** How long its renewed leases last at a time, in ms. Default 30,000. */
  readonly watchdogTimeout?: number;
}
