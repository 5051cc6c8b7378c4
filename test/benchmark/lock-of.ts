import type { Lock } from '../../lib/core/lock.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import type { Recipe } from './contestant.js';

/** A new lock object of ours for a recipe on a path. */
export function lockOf(client: ZooKeeperLockClient, recipe: Recipe, path: string): Lock {
  switch (recipe) {
    case 'mutex':
      return client.mutex(path);
    case 'readLock':
      return client.readWriteLock(path).readLock();
    case 'writeLock':
      return client.readWriteLock(path).writeLock();
    case 'semaphoreMutex':
      return client.semaphoreMutex(path);
    case 'multiLock':
      return client.multiLock([0, 1, 2, 3, 4].map((i) => client.mutex(`${path}-${i}`)));
    default:
      return client.semaphore(path, { permits: Number(recipe.slice('semaphore:'.length)) });
  }
}
