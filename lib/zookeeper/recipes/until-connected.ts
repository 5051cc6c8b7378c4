import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { nextStateChange } from './next-state-change.js';

/** Resolves as soon as requests go out. Rejects as soon as `wait` has ended. */
export async function untilConnected(
  connection: ZooKeeperConnection,
  wait: WaitScope,
): Promise<void> {
  while (!connection.isConnected) {
    const { changed, stop } = nextStateChange(connection);
    await wait.until(changed).finally(stop);
  }
}
