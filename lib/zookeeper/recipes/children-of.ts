import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { Watcher, ZooKeeperConnection } from '../connection/zookeeper-connection.js';

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
