import type { Clock } from '../../core/clock.js';
import { sleep } from '../../core/internal/timers.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type {
  WatchEvent,
  Watcher,
  ZooKeeperConnection,
} from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';

/** Pause before resending a request that busy servers have rejected, in ms. */
export const BUSY_PAUSE = 100;

/** Returns a promise of the next state change, and a function that stops listening for it. */
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

/** Resolves when it is worthwhile to resend a request that failed for a transient reason. */
export async function afterTransient(
  { connection, clock }: { readonly connection: ZooKeeperConnection; readonly clock: Clock },
  error: ZooKeeperError,
): Promise<void> {
  if (!connection.isConnected) await nextStateChange(connection).changed;
  else if (!error.isConnectionLoss) await sleep(clock, BUSY_PAUSE);
}

/** Resolves as soon as requests can be sent. Rejects as soon as `wait` has ended. */
export async function untilConnected(
  connection: ZooKeeperConnection,
  wait: WaitScope,
): Promise<void> {
  while (!connection.isConnected) {
    const { changed, stop } = nextStateChange(connection);
    await wait.until(changed).finally(stop);
  }
}

/**
 * Resolves when the servers have answered, also if they refuse the request: since 3.7.3, 3.8.4 and 3.9.2 they refuse `exists` where
 * the node may not be read. Rejects as the request does if no answer came.
 */
export async function untilAnswered(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof ZooKeeperError) || error.isConnectionLoss) throw error;
  }
}

/** The first event of the watches to which it listens, which may come before it is awaited. */
export class Change {
  #hasCome = false;
  #isDeletion = false;
  #tell?: (value: void) => void;

  /** Whether it is the deletion of a node. */
  get isDeletion(): boolean {
    return this.#isDeletion;
  }

  /** The watcher; called without an event, it counts as a change of another kind. */
  readonly heard = (event?: WatchEvent): void => {
    if (this.#hasCome) return;
    this.#hasCome = true;
    this.#isDeletion = event?.type === 'deleted';
    this.#tell?.();
  };

  /** Resolves when it has come. Rejects as soon as `wait` has ended. */
  come(wait: WaitScope): Promise<void> {
    if (this.#hasCome) return Promise.resolve();
    return wait.untilCalled((tell) => (this.#tell = tell));
  }
}

/**
 * Resolves to true when there is a reason to look at the node again; to false at once if the node does not exist. Leaves no
 * watcher behind.
 *
 * Rejects with `ZooKeeperError` if no answer came, or as soon as `wait` has ended.
 */
export async function waitForChange(
  connection: ZooKeeperConnection,
  path: string,
  wait: WaitScope,
): Promise<boolean> {
  const change = new Change();
  try {
    // getData instead of exists: on a missing node, exists would leave a watch behind on the server.
    await wait.until(connection.getData(path, change.heard));
    await change.come(wait);
    return true;
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
    throw error;
  } finally {
    connection.unwatch(path, change.heard);
  }
}

/** Lists the names of the children; resolves to none if the directory does not exist. */
export async function listChildren(
  connection: Pick<ZooKeeperConnection, 'getChildren'>,
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

/** Deletes the node; does nothing if it does not exist. */
export async function deleteIfExists(connection: ZooKeeperConnection, path: string): Promise<void> {
  try {
    await connection.delete(path);
  } catch (error) {
    if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
  }
}
