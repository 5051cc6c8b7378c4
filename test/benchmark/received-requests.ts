import type { ZooKeeperServer } from '../support/zookeeper-server.js';

/** How many requests the server has received since it started, by its own count. */
export async function receivedRequests(server: ZooKeeperServer): Promise<number> {
  return Number(/Received: (\d+)/.exec(await server.fourLetterWord('srvr'))?.[1]);
}
