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
export function predecessorOf(
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
