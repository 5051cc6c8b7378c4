import type { Lock } from './lock.js';

/**
 * Many readers at a time, or one writer.
 *
 * Inside of the held write lock the read lock is granted at once, and stays when the write lock is released: a downgrade.
 * The other way round is refused with `LockUpgradeError`: the writer would wait for itself.
 */
export interface ReadWriteLock {
  /** As the user gave it. */
  readonly key: string;
  /** Shared with other readers. */
  readLock(): Lock;
  /** Alone. */
  writeLock(): Lock;
}
