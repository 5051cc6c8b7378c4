import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { ZooKeeperConnection } from '../../../lib/zookeeper/connection/zookeeper-connection.js';

/** Paths of all nodes below one, also while others come and go. */
export async function znodesBelow(
  path: string,
  connection: ZooKeeperConnection,
): Promise<string[]> {
  const children = (await childrenOf(path, connection)).map((name) => `${path}/${name}`);
  const below = await Promise.all(children.map((child) => znodesBelow(child, connection)));
  return [...children, ...below.flat()].sort();
}

async function childrenOf(path: string, connection: ZooKeeperConnection): Promise<string[]> {
  try {
    return await connection.getChildren(path);
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
    throw error;
  }
}
