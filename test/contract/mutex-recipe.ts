import type { Mutex } from '../../lib/core/lock.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';

/** A recipe that is to do what every mutex does. */
export interface MutexRecipe {
  make(locks: ZooKeeperLockClient, key: string): Mutex;
  /** Name of the client in its errors; none where its parts may belong to several. */
  readonly client?: string;
  /**
   * Paths of the nodes of one lock, one for each holder and waiter, the holder's first.
   *
   * @param path of its key
   * @param queueIn paths of the children of a directory, in the order of their numbers
   */
  contenders(path: string, queueIn: (path: string) => Promise<string[]>): Promise<string[]>;
}
