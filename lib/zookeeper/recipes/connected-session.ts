import type { WaitScope } from '../../core/wait-scope.js';
import type { Session } from '../connection/session.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { nextStateChange } from './next-state-change.js';

/** The session that requests go out on, as soon as they do. Rejects as soon as `wait` has ended. */
export async function connectedSession(
  connection: ZooKeeperConnection,
  wait: WaitScope,
): Promise<Session> {
  for (;;) {
    wait.throwIfEnded();
    const { session } = connection;
    if (connection.isConnected && session?.isAlive) return session;
    const { changed, stop } = nextStateChange(connection);
    await wait.until(changed).finally(stop);
  }
}
