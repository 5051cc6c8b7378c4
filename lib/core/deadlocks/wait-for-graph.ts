/** Most waits that one search looks at: with more, it finds nothing. */
const MOST = 1_000;

/** A lock with one holder, with the waits of those that hold it. */
export interface OuterLock<W> {
  /** The acquires whose callers wait inside of this lock. */
  readonly inside: Iterable<W>;
}

/** A wait in a circle: for a lock inside of which the next one of the circle waits. */
export interface CircleStep<W, L extends OuterLock<W>> {
  readonly wait: W;
  /** The lock that its caller holds, and the one before it waits for. */
  readonly holds: L;
  /** The lock that it waits for, and the next one holds. */
  readonly waitsFor: L;
}

/** The wait-for graph of some acquires (Coffman et al., System Deadlocks, 1971). */
export interface WaitForGraph<W, L extends OuterLock<W>> {
  /** The locks for which that one waits; a lock is the same object each time. */
  waitsFor(wait: W): Iterable<L>;
  /** Whether that one, which waits inside of the lock, counts in the search. */
  counts(wait: W, lock: L): boolean;
}

/**
 * Searches the shortest circle through `start`, which is its first step. It looks at each lock once, and at so few waits that the
 * search never delays the process, whatever graph others have made up.
 */
export function findCircle<W, L extends OuterLock<W>>(
  start: W,
  graph: WaitForGraph<W, L>,
): readonly CircleStep<W, L>[] | undefined {
  const cameBy = new Map<W, Way<W, L>>();
  const seen = new Set<L>();
  const queue = [start];
  let looks = 0;
  for (const from of queue)
    for (const lock of graph.waitsFor(from)) {
      if (seen.has(lock)) continue;
      seen.add(lock);
      for (const wait of lock.inside) {
        if ((looks += 1) > MOST) return undefined;
        if (!graph.counts(wait, lock)) continue;
        if (wait === start) return circleOf(start, { from, lock }, cameBy);
        if (cameBy.has(wait)) continue;
        cameBy.set(wait, { from, lock });
        queue.push(wait);
      }
    }
  return undefined;
}

/** How the search came to a wait: from one that waits for the lock around it. */
interface Way<W, L> {
  readonly from: W;
  readonly lock: L;
}

/** Follows the way back from `start` to `start`. */
function circleOf<W, L extends OuterLock<W>>(
  start: W,
  last: Way<W, L>,
  cameBy: ReadonlyMap<W, Way<W, L>>,
): readonly CircleStep<W, L>[] {
  const circle: CircleStep<W, L>[] = [];
  let way = last;
  while (way.from !== start) {
    const before = cameBy.get(way.from)!;
    circle.unshift({ wait: way.from, holds: before.lock, waitsFor: way.lock });
    way = before;
  }
  return [{ wait: start, holds: last.lock, waitsFor: way.lock }, ...circle];
}
