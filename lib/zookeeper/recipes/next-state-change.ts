import type { Clock } from '../../core/clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { ZooKeeperError } from '../connection/zookeeper-error.js';

/** Pause before a request is sent again that busy servers have refused, in ms. */
const BUSY_PAUSE = 100;

/** A promise of the next change of state, and a way to stop listening for it. */
export function nextStateChange(connection: ZooKeeperConnection): {
  changed: Promise<void>;
  stop: () => void;
} {
  let stop!: () => void;
  const changed = new Promise<void>((resolve) => {
    stop = connection.onStateChange(() => {
      stop();
      resolve();
    });
  });
  return { changed, stop };
}

/** Resolves when it is worth while to send a request again that failed for a transient reason. */
export async function afterTransient(
  { connection, clock }: { readonly connection: ZooKeeperConnection; readonly clock: Clock },
  error: ZooKeeperError,
): Promise<void> {
  if (!connection.isConnected) await nextStateChange(connection).changed;
  else if (!error.isConnectionLoss)
    await new Promise<void>((resolve) => clock.setTimer(resolve, BUSY_PAUSE, true));
}
