import type { LockHolder } from '../../core/lock-holder.js';
import type { Stat } from '../connection/zookeeper-connection.js';

/** Key by which a child is ordered: all that follows the last `lockName`, or the whole name of a foreign node. */
export function sortKey(child: string, lockName: string): string {
  const at = child.lastIndexOf(lockName);
  return at < 0 ? child : child.slice(at + lockName.length);
}

/** Sorts the children in queue order (see `findPredecessor`). */
export function sortedChildren(
  children: readonly string[],
  sortKey: (child: string) => string,
): string[] {
  const keyed = children.map((name) => ({ name, key: sortKey(name) }));
  keyed.sort((a, b) => (a.key < b.key || (a.key === b.key && a.name < b.name) ? -1 : 1));
  return keyed.map(({ name }) => name);
}

/** The nodes ahead of a node in its queue. */
interface Predecessor {
  /** Whether the node is in the queue. */
  readonly isQueued: boolean;
  /** Number of nodes ahead. */
  readonly ahead: number;
  /** The last of the nodes ahead. */
  readonly nearest?: string;
}

/** By default all children count, including names that no lock created. */
const everyChild = () => true;

/**
 * Finds the nodes ahead of `own`. Keys compare as UTF-16 code units: as in Curator, so that every client sees the same
 * queue. Equal keys are ordered by name.
 *
 * @param counts whether that child is one to wait for
 */
export function findPredecessor(
  children: readonly string[],
  own: string,
  sortKey: (child: string) => string,
  counts: (child: string) => boolean = everyChild,
): Predecessor {
  const shared = sharedPredecessors(children, sortKey, counts);
  if (shared !== undefined) return shared.get(own) ?? { isQueued: false, ahead: 0 };
  const ownKey = sortKey(own);
  let [ahead, isQueued] = [0, false];
  let [nearest, nearestKey]: [string | undefined, string] = [undefined, ''];
  for (const child of children) {
    if (child === own) isQueued = true;
    if (!counts(child)) continue;
    const key = sortKey(child);
    if (key > ownKey || (key === ownKey && child >= own)) continue;
    ahead += 1;
    const isNearer = key > nearestKey || (key === nearestKey && child > nearest!);
    if (nearest === undefined || isNearer) [nearest, nearestKey] = [child, key];
  }
  return { isQueued, ahead, nearest };
}

/** A way to look at a listing, and what it shows once a second attempt has asked. */
interface Look {
  readonly sortKey: (child: string) => string;
  readonly counts: (child: string) => boolean;
  predecessors?: ReadonlyMap<string, Predecessor>;
}

/** Up to this length, a pass over the listing for each attempt costs less than an order of it. */
const SHORT = 16;

const looks = new WeakMap<readonly string[], Look[]>();

/**
 * The predecessors of all children, found once for all attempts that share the listing (see `SharedListings`): a pass for
 * each of N attempts would be N² steps. `undefined` for the first attempt, which may be the only one.
 */
function sharedPredecessors(
  children: readonly string[],
  sortKey: Look['sortKey'],
  counts: Look['counts'],
): ReadonlyMap<string, Predecessor> | undefined {
  if (children.length <= SHORT) return undefined;
  const known = looks.get(children) ?? [];
  const look = known.find((it) => it.sortKey === sortKey && it.counts === counts);
  if (look !== undefined) return (look.predecessors ??= predecessorsOf(children, look));
  looks.set(children, [...known, { sortKey, counts }]);
  return undefined;
}

function predecessorsOf(
  children: readonly string[],
  { sortKey, counts }: Look,
): ReadonlyMap<string, Predecessor> {
  const predecessors = new Map<string, Predecessor>();
  let [ahead, nearest]: [number, string | undefined] = [0, undefined];
  for (const child of sortedChildren(children, sortKey)) {
    predecessors.set(child, { isQueued: true, ahead, nearest });
    if (counts(child)) [ahead, nearest] = [ahead + 1, child];
  }
  return predecessors;
}

/** Whether no node is ahead of `child` in its queue, so that it holds the lock. */
export function isFirst(
  children: readonly string[],
  child: string,
  sortKey: (child: string) => string,
): boolean {
  return findPredecessor(children, child, sortKey).ahead === 0;
}

/** Position of a node among the children of its lock. */
export interface Turn {
  /** The child to wait for; `undefined` if it is our turn. */
  readonly blocker?: string | undefined;
  /** Whether it is our turn as soon as the blocker is deleted, without listing the queue again. */
  readonly isNext: boolean;
}

/** How a recipe interprets the children of its lock (Curator's `LockInternalsDriver`). */
export interface LockInternalsDriver {
  /** What follows the UUID in the names of our nodes. */
  readonly lockName: string;
  /** True if, once a node is queued, no node it would have to wait for ever enters ahead of it. */
  readonly isClosed: boolean;
  /** Key by which the children are ordered. */
  readonly sortKey: (child: string) => string;
  /** Returns `undefined` if `own` is not among the children. */
  turnOf(children: readonly string[], own: string): Turn | undefined;
}

/**
 * Curator's standard predicate for one holder: the first child holds, every other child waits for its predecessor.
 *
 * `isNext`: new nodes only ever enter behind ours, so when the only node ahead is deleted there is nothing left to check.
 * If an operator deleted our own node, that would be wrong; the watch on it reports that first (see `OwnedNode`).
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
 * Writers only ever enter behind our node, so when the only one ahead is deleted there is nothing left to check (as for a
 * mutex).
 */
export const readLockDriver: LockInternalsDriver = {
  lockName: READ_NAME,
  isClosed: true,
  sortKey: readWriteSortKey,
  turnOf(children, own): Turn | undefined {
    const queue = findPredecessor(children, own, readWriteSortKey, isWriter);
    const { isQueued, ahead, nearest } = queue;
    return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined;
  },
};

/**
 * A writer waits for all nodes ahead of it, each time for the nearest.
 *
 * It is never next without another listing: a writer that downgrades adds a reader ahead of the nodes that wait for it.
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
      return areTogether ? { isNext: false } : undefined;
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
