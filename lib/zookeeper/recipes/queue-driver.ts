import type { LockInternalsDriver, Turn } from './lock-internals-driver.js';
import { predecessorOf } from './predecessor-of.js';
import { sortKey } from './sort-key.js';

/**
 * Curator's standard predicate for one holder: the first child holds, everybody else waits for the one before.
 *
 * `isNext`: new nodes only ever come behind us, so when the only node ahead goes there is nothing left to look at.
 * An operator who deletes our own node would make that wrong; the watch on it tells us first (see `NodeWatch`).
 *
 * @param lockName what follows the UUID in the names of the nodes
 */
export function queueDriver(lockName: string): LockInternalsDriver {
  return {
    lockName,
    isClosed: true,
    sortKey: (child) => sortKey(child, lockName),
    turnOf(children, own): Turn | undefined {
      const { isQueued, ahead, nearest } = predecessorOf(children, own, this.sortKey);
      return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined;
    },
  };
}
