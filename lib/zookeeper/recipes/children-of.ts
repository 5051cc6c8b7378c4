import { ReturnCode } from '../connection/return-code.js';
import type { Watcher } from '../connection/watch-event.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';

/** Names of the children; none when there is no such directory. */
export async function childrenOf(
  connection: ZooKeeperConnection,
  directory: string,
  watcher?: Watcher,
): Promise<string[]> {
  try {
    return await connection.getChildren(directory, watcher);
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
    throw error;
  }
}
