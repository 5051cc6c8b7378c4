import type { LockInternalsDriver, Turn } from './lock-internals-driver.js';
import { predecessorOf } from './predecessor-of.js';
import { READ_NAME, readWriteSortKey, WRITE_NAME } from './read-write-names.js';

/**
 * A reader waits for the writers ahead of it. It waits for the nearest, which is most likely the last of them to go;
 * Curator's waits for the first, and so looks again after each.
 *
 * Writers only ever come behind us, so when the only one ahead goes there is nothing left to look at (as for a mutex).
 */
export const readLockDriver: LockInternalsDriver = {
  lockName: READ_NAME,
  isClosed: true,
  sortKey: readWriteSortKey,
  turnOf(children, own): Turn | undefined {
    const writers = children.filter((child) => child === own || child.includes(WRITE_NAME));
    const { isQueued, ahead, nearest } = predecessorOf(writers, own, readWriteSortKey);
    return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined;
  },
};
