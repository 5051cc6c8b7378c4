import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import type { Transport } from '../../lib/zookeeper/connection/transport.js';

/** The servers of one suite, with the accidents that the suite has in mind for them. */
export interface Backend {
  /** A way to the servers for one client; where there are several, to another one than the client before. */
  connect(): Promise<{ transport: Transport; servers: Servers }>;
  /** The servers end that session. */
  expire(session: Session): Promise<void>;
  /** From now on the servers answer nothing, but keep their connections. */
  freeze(): void;
  /** Ends `freeze`: they go on where they were. */
  thaw(): void;
  /** The servers go away with the connections of those sessions. They remember everything. */
  kill(sessions: readonly Session[]): Promise<void>;
  /** Ends `kill`. */
  restart(): Promise<void>;
  /** Ends the servers for good. */
  stop(): Promise<void>;
}
