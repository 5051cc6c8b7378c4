import { ReturnCode } from '../connection/return-code.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';

/** Names of the children; none when there is no such directory. */
export async function childrenOf(
  connection: ZooKeeperConnection,
  directory: string,
): Promise<string[]> {
  try {
    return await connection.getChildren(directory);
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
    throw error;
  }
}
