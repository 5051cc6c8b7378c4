import type { LockInternalsDriver, Turn } from './lock-internals-driver.js';
import { predecessorOf } from './predecessor-of.js';
import { readWriteSortKey, WRITE_NAME } from './read-write-names.js';

/**
 * A writer waits for everybody ahead of it, the nearest at a time.
 *
 * It is never next without another look: a writer that downgrades adds a reader ahead of those who wait for it.
 */
export const writeLockDriver: LockInternalsDriver = {
  lockName: WRITE_NAME,
  isClosed: false,
  sortKey: readWriteSortKey,
  turnOf(children, own): Turn | undefined {
    const { isQueued, nearest } = predecessorOf(children, own, readWriteSortKey);
    return isQueued ? { blocker: nearest, isNext: false } : undefined;
  },
};
