import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/** Deletes the node; no harm where there is none. */
export async function deleteIfThere(connection: ZooKeeperConnection, path: string): Promise<void> {
  try {
    await connection.delete(path);
  } catch (error) {
    if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
  }
}
