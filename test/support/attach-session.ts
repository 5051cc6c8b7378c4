import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import type { ServerAddress } from '../../lib/zookeeper/connection/server-list.js';
import type {
  SessionCredentials,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';

/**
 * Takes a session over from its client; the server then ends the connection of that client. From now on the link keeps the
 * session alive; its `close()` ends it. The client should not be able to connect meanwhile: it would take the session back.
 */
export async function attachSession(
  server: ServerAddress,
  credentials: SessionCredentials,
): Promise<TransportLink> {
  const transport = await NativeTransport.load();
  const { host, port } = server;
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(reason));
    const link: TransportLink = transport.open(
      { address: { host, port }, credentials, sessionTimeout: credentials.timeout, auth: [] },
      {
        onConnected: () => resolve(link),
        onDisconnected: fail,
        onExpired: fail,
        onWatch: () => {},
      },
    );
  });
}
