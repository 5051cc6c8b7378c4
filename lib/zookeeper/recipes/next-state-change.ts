import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

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
