import type { LinkListener } from '../zookeeper/connection/transport.js';
import type { Identity } from './identity.js';
import type { ServerSession } from './server-session.js';

/** Who sends a request: one link of one session. */
export interface Caller {
  readonly session: ServerSession;
  readonly identities: readonly Identity[];
  readonly listener: LinkListener;
}
