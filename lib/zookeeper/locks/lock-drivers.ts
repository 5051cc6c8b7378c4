import type { LockHolder } from '../../core/lock-holder.js';
import type { Stat } from '../connection/zookeeper-connection.js';

/** Position of a node among the children of its lock. */
export interface Turn {
  /** The child to wait for; `undefined` if it is our turn. */
  readonly blocker?: string | undefined;
  /** Whether the blocker holds the lock, as far as is known. */
  readonly isHeld?: boolean;
}

/** Key by which a child is ordered: all that follows the last `lockName`, or the whole name of a foreign node. */
export function sortKey(child: string, lockName: string): string {
  const at = child.lastIndexOf(lockName);
  return at < 0 ? child : child.slice(at + lockName.length);
}

/** How a recipe interprets the children of its lock (Curator's `LockInternalsDriver`). */
export interface LockInternalsDriver {
  /** What follows the UUID in the names of our nodes. */
  readonly lockName: string;
  /** True if, once a node is queued, no node it would have to wait for ever enters ahead of it. */
  readonly isClosed: boolean;
  /** Key by which the children are ordered. */
  readonly sortKey: (child: string) => string;
  /** The nodes ahead that a node waits for, each time for the nearest of them. */
  readonly waitsFor: 'all' | 'writers';
  /** If there are writers: whether that child is one. */
  readonly isWriter?: (child: string) => boolean;
  /** If its turn does not depend on the nodes ahead: `undefined` if `own` has no turn any more. */
  turnOf?(children: readonly string[], own: string): Turn | undefined;
}

/**
 * Curator's standard predicate for one holder: the first child holds, every other child waits for its predecessor.
 *
 * It is closed: new nodes only ever enter behind ours, so when all that are ahead are gone there is nothing left to check. If
 * an operator deleted our own node, that would be wrong; the watch on it reports that first (see `OwnedNode`).
 *
 * @param lockName what follows the UUID in the names of the nodes
 */
function queueDriver(lockName: string): LockInternalsDriver {
  return {
    lockName,
    isClosed: true,
    sortKey: (child) => sortKey(child, lockName),
    waitsFor: 'all',
  };
}

/** The queue of a mutex (Curator's `StandardLockInternalsDriver`). */
export const standardLockInternalsDriver = queueDriver('lock-');

/** The queue of a mutex, with the node names of Curator's `LeaderLatch`. */
export const leaderLatchDriver = queueDriver('latch-');

/** What follows the UUID in the names of a read/write lock's nodes, as in Curator. */
export const READ_NAME = '__READ__';
export const WRITE_NAME = '__WRIT__';

const isWriter = (child: string) => child.includes(WRITE_NAME);

/** Sort key of a read/write lock's nodes: readers and writers share one queue. */
export function readWriteSortKey(child: string): string {
  return sortKey(sortKey(child, READ_NAME), WRITE_NAME);
}

/**
 * A reader waits for the writers ahead of it. It waits for the nearest, which is most likely the last of them to finish;
 * Curator's waits for the first, and so lists the queue again after each.
 *
 * Writers only ever enter behind our node, so the queue is closed (as that of a mutex).
 */
export const readLockDriver: LockInternalsDriver = {
  lockName: READ_NAME,
  isClosed: true,
  sortKey: readWriteSortKey,
  waitsFor: 'writers',
  isWriter,
};

/**
 * A writer waits for all nodes ahead of it, each time for the nearest.
 *
 * It always lists the queue again: a writer that downgrades adds a reader ahead of the nodes that wait for it.
 */
export const writeLockDriver: LockInternalsDriver = {
  lockName: WRITE_NAME,
  isClosed: false,
  sortKey: readWriteSortKey,
  waitsFor: 'all',
  isWriter,
};

/**
 * A reader inside the write lock held with the node `writer`. Its own node takes the sequence number of that node, as in
 * Curator since 5.5, so that no queued writer comes in between.
 *
 * It is granted at once if both nodes are listed together: the write lock was then held when the reader's node was created.
 * If the writer's node is missing, another writer may hold the lock already.
 */
export function downgradeDriver(writer: string): LockInternalsDriver {
  return {
    ...readLockDriver,
    turnOf(children, own): Turn | undefined {
      const areTogether = children.includes(own) && children.includes(writer);
      return areTogether ? {} : undefined;
    },
  };
}

/** Number of characters shown of a node's data. */
const SHOWN = 200;

/** What is known of the holder with that node; `data` is that of the node. */
export function nodeHolder(path: string, data: Buffer, { ctime }: Pick<Stat, 'ctime'>): LockHolder {
  const text = data.toString('utf8', 0, SHOWN);
  const half = path.includes(READ_NAME) ? 'read' : 'write';
  const isHalf = path.includes(READ_NAME) || path.includes(WRITE_NAME);
  return { id: path, mode: isHalf ? half : 'alone', since: ctime, data: text || undefined };
}
