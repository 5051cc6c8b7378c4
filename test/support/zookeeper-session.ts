import ZooKeeper from 'zookeeper';
import type { ServerAddress } from '../../lib/zookeeper/connection/server-list.js';
import type {
  SessionCredentials,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { eventually } from './time.js';
import { transportOf } from './zookeeper-driver.js';
import type { ZooKeeperServer } from './zookeeper-server.js';

/** The longest that the take-over may take, in ms: an attempt of the driver's may hear nothing, for ever. */
const LONGEST = 1_500;

/**
 * Ends a session from outside: takes it over and closes it in the same tick, by the bare driver, so that its client has no
 * chance to take it back. Resolves when that was tried: to true when the servers say that it has ended, else a client in another
 * process may have been quicker, or the request was lost.
 */
export function endSession(
  connect: string,
  { id, password, timeout }: SessionCredentials,
): Promise<boolean> {
  const intruder = new ZooKeeper({
    connect,
    timeout,
    client_id: id,
    client_password: password,
    debug_level: 0,
    host_order_deterministic: true,
  });
  return new Promise((resolve) => {
    let isOver = false;
    const end = (hasEnded: boolean) => {
      if (isOver) return; // its own closing is reported too
      isOver = true;
      clearTimeout(patience);
      intruder.close();
      setImmediate(() => resolve(hasEnded)); // a socket opened in the turn of a driver's event may never be heard of again
    };
    const patience = setTimeout(() => end(false), LONGEST);
    for (const event of ['connect', 'connecting']) intruder.once(event, () => end(false));
    intruder.once('close', () => end(true));
    intruder.init(intruder.config);
  });
}

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

/**
 * Takes a session over from its client; the server then ends the connection of that client. From now on the link keeps the
 * session alive; its `close()` ends it. The client should not be able to connect meanwhile: it would take the session back.
 */
export async function attachSession(
  server: ServerAddress,
  credentials: SessionCredentials,
): Promise<TransportLink> {
  const transport = await transportOf();
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
