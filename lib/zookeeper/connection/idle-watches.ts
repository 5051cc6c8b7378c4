import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';

/** Watches of data are those on a node, or on its creation; `child` watches are on its children. */
export type WatchKind = 'data' | 'child';

/** How long a watch without a watcher is kept, in ms: most of them fire by then, or get a watcher again. */
const KEPT = 10_000;
/** Interval between two looks at them, in ms. */
const INTERVAL = 1_000;
/** Most watches that are removed at one look: other requests wait behind theirs. */
const MOST = 100;

/** The watches that the server keeps for no watcher. Those that have not fired after 10 s are removed. */
export class IdleWatches {
  /** Since when, by path; the earliest first. */
  readonly #idle = { data: new Map<string, number>(), child: new Map<string, number>() };
  #timer: Timer | undefined;

  /** @param remove sends the request at once; its answer does not matter */
  constructor(
    private readonly clock: Clock,
    private readonly remove: (kind: WatchKind, path: string) => void,
  ) {}

  add(kind: WatchKind, path: string): void {
    this.#idle[kind].set(path, this.clock.now());
    if (this.#timer === undefined) this.#lookLater();
  }

  /** It has fired, or is waited for again. */
  delete(kind: WatchKind, path: string): void {
    this.#idle[kind].delete(path);
  }

  clear(): void {
    for (const watches of Object.values(this.#idle)) watches.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #lookLater(): void {
    const look = () => this.#look();
    this.#timer = LeaseScope.runOutside(() => this.clock.setTimer(look, INTERVAL, true));
  }

  #look(): void {
    this.#timer = undefined;
    const due = this.clock.now() - KEPT;
    let removed = 0;
    for (const kind of ['data', 'child'] as const)
      for (const [path, since] of this.#idle[kind]) {
        if (since > due || removed === MOST) break;
        removed += 1;
        this.#idle[kind].delete(path);
        this.remove(kind, path);
      }
    if (this.#idle.data.size + this.#idle.child.size > 0) this.#lookLater();
  }
}
