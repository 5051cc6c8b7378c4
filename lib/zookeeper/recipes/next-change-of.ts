import type { WaitScope } from '../../core/internal/wait-scope.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/**
 * Resolves to true when there is a reason to look again at a node, to false at once when there is none. Leaves no watcher
 * behind.
 *
 * Rejects with `ZooKeeperError` where no answer came, or as soon as `wait` has ended.
 */
export async function nextChangeOf(
  connection: ZooKeeperConnection,
  path: string,
  wait: WaitScope,
): Promise<boolean> {
  let wake!: () => void;
  const woken = new Promise<void>((resolve) => (wake = () => resolve()));
  try {
    // getData, not exists: on a node that is not there, exists would leave a watch behind on the server.
    await wait.until(connection.getData(path, wake));
    await wait.until(woken);
    return true;
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
    throw error;
  } finally {
    connection.unwatch(path, wake);
  }
}
