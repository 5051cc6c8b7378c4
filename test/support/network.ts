import type { Request } from '../../lib/zookeeper/connection/transport.js';

/** The way between a client and the server, as it is at the moment. */
export interface Network {
  /** How long the next message is under way, in milliseconds. */
  latency(): number;
  /**
   * What becomes of a request that has arrived: `served`; or the connection is cut before the server reads it (`lost`), or
   * after it was carried out and before its reply (`unanswered`).
   */
  fate(request: Request): 'served' | 'lost' | 'unanswered';
  /** The server takes no new connections. */
  readonly isRefusing: boolean;
  /** Nothing arrives in either direction, and neither side is notified. */
  readonly isPartitioned: boolean;
}
