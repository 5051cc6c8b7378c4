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
