/** What a child is ordered by: all that follows the last `lockName`, or the whole name of a stranger's node. */
export function sortKey(child: string, lockName: string): string {
  const at = child.lastIndexOf(lockName);
  return at < 0 ? child : child.slice(at + lockName.length);
}

/** The children in the order of the queue: see `findPredecessor`. */
export function sortedChildren(
  children: readonly string[],
  sortKey: (child: string) => string,
): string[] {
  const keyed = children.map((name) => ({ name, key: sortKey(name) }));
  keyed.sort((a, b) => (a.key < b.key || (a.key === b.key && a.name < b.name) ? -1 : 1));
  return keyed.map(({ name }) => name);
}

/** Who is ahead of a node in its queue. */
export interface Predecessor {
  /** Is the node in the queue? */
  readonly isQueued: boolean;
  /** How many are ahead. */
  readonly ahead: number;
  /** The last of them. */
  readonly nearest?: string;
}

/**
 * Who is ahead of `own`. All children take part, also names that no lock made, and keys compare as UTF-16 code units: as
 * in Curator, so that every client sees the same queue. Equal keys go by the name.
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
