import type { Timer } from '../core/clock.js';
import type { LinkListener, SessionCredentials } from '../zookeeper/connection/transport.js';

/** A session as the server keeps it. */
export interface ServerSession extends SessionCredentials {
  timeout: number;
  /** When it expires unless it is heard of. */
  expiresAt: number;
  /** The link that it is attached to. */
  listener?: LinkListener;
  timer?: Timer;
}
