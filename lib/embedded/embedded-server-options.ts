import type { Clock } from '../core/clock.js';

export interface EmbeddedServerOptions {
  /** Default: that of the machine. */
  readonly clock?: Clock;
  /**
   * The server's unit of time in milliseconds: sessions get 2 to 20 of it, and end on a full one.
   * Default: none; sessions never expire, for client and server live and die together.
   */
  readonly tickTime?: number;
  /** How often empty containers are looked for, in milliseconds. Default 60,000, as in ZooKeeper. */
  readonly containerInterval?: number;
}
