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

/**
 * Finds the nodes ahead of `own`. All children count, including names that no lock created, and keys compare as UTF-16
 * code units: as in Curator, so that every client sees the same queue. Equal keys are ordered by name.
 */
export function findPredecessor(
  children: readonly string[],
  own: string,
  sortKey: (child: string) => string,
): Predecessor {
  const ownKey = sortKey(own);
  let [ahead, isQueued] = [0, false];
  let [nearest, nearestKey]: [string | undefined, string] = [undefined, ''];
  for (const child of children) {
    const key = sortKey(child);
    if (child === own) isQueued = true;
    if (key > ownKey || (key === ownKey && child >= own)) continue;
    ahead += 1;
    if (nearest === undefined || key > nearestKey) [nearest, nearestKey] = [child, key];
  }
  return { isQueued, ahead, nearest };
}
