import { findPredecessor, sortKey } from '../nodes/queue-order.js';

/** Where a node stands among the children of its lock. */
export interface Turn {
  /** The child to wait for; none: it is our turn. */
  readonly blocker?: string;
  /** When the blocker goes, is it our turn without another look? */
  readonly isNext: boolean;
}

/** How a recipe reads the children of its lock, as Curator's class of that name. */
export interface LockInternalsDriver {
  /** What follows the UUID in the names of our nodes. */
  readonly lockName: string;
  /** Nobody whom a node would have to wait for ever comes in ahead of it, once it is in the queue. */
  readonly isClosed: boolean;
  /** What children are ordered by. */
  readonly sortKey: (child: string) => string;
  /** `undefined` when `own` is not among the children. */
  turnOf(children: readonly string[], own: string): Turn | undefined;
}

/**
 * Curator's standard predicate for one holder: the first child holds, everybody else waits for the one before.
 *
 * `isNext`: new nodes only ever come behind us, so when the only node ahead goes there is nothing left to look at.
 * An operator who deletes our own node would make that wrong; the watch on it tells us first (see `OwnedNode`).
 *
 * @param lockName what follows the UUID in the names of the nodes
 */
function queueDriver(lockName: string): LockInternalsDriver {
  return {
    lockName,
    isClosed: true,
    sortKey: (child) => sortKey(child, lockName),
    turnOf(children, own): Turn | undefined {
      const { isQueued, ahead, nearest } = findPredecessor(children, own, this.sortKey);
      return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined;
    },
  };
}

/** Curator's class of that name: the queue of a mutex. */
export const standardLockInternalsDriver = queueDriver('lock-');

/** As that of a mutex, with the names of Curator's `LeaderLatch`. */
export const leaderLatchDriver = queueDriver('latch-');

/** What follows the UUID in the names of a read/write lock's nodes, as in Curator. */
export const READ_NAME = '__READ__';
export const WRITE_NAME = '__WRIT__';

/** Readers and writers stand in one queue. */
export function readWriteSortKey(child: string): string {
  return sortKey(sortKey(child, READ_NAME), WRITE_NAME);
}

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
    const { isQueued, ahead, nearest } = findPredecessor(writers, own, readWriteSortKey);
    return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined;
  },
};

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
    const { isQueued, nearest } = findPredecessor(children, own, readWriteSortKey);
    return isQueued ? { blocker: nearest, isNext: false } : undefined;
  },
};

/**
 * A reader whose caller holds the write lock with the node `writer`, and whose own node takes the number of that one: as
 * in Curator since 5.5, so that no writer that queues comes in between.
 *
 * It is granted at once where both nodes are seen together: so the write lock was held when the reader's was created. If
 * the writer's is missing, somebody else may be writing already.
 */
export function downgradeDriver(writer: string): LockInternalsDriver {
  return {
    ...readLockDriver,
    turnOf(children, own): Turn | undefined {
      const areTogether = children.includes(own) && children.includes(writer);
      return areTogether ? { isNext: false } : undefined;
    },
  };
}
