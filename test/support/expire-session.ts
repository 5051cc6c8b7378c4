import type { SessionCredentials } from '../../lib/zookeeper/connection/transport.js';
import { endSession } from './end-session.js';
import { eventually } from './eventually.js';
import type { ZooKeeperServer } from './zookeeper-server.js';

/** Ends a session on the server; resolves when it is gone. */
export async function expireSession(
  server: ZooKeeperServer,
  credentials: SessionCredentials,
): Promise<void> {
  await eventually('the session is gone', async () => {
    await endSession(server.connectString, credentials); // again: the driver may lose the request as it closes
    return !(await server.hasSession(credentials.id));
  });
}
