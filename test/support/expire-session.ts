import type { SessionCredentials } from '../../lib/zookeeper/connection/transport.js';
import { attachSession } from './attach-session.js';
import { eventually } from './eventually.js';
import type { ZooKeeperServer } from './zookeeper-server.js';

/** Ends a session on the server; resolves when it is gone. Its client must not be able to connect meanwhile. */
export async function expireSession(
  server: ZooKeeperServer,
  credentials: SessionCredentials,
): Promise<void> {
  (await attachSession(server, credentials)).close();
  await eventually('the session is gone', async () => {
    const sessions = await server.fourLetterWord('dump');
    return sessions !== '' && !sessions.includes(`0x${credentials.id}`);
  });
}
