import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/**
 * Saves the listing for those who wait behind a node of the same client: for each directory, the last node of ours whose
 * turn it was.
 *
 * The argument: when it was its turn, nobody was ahead of it who could keep us waiting. All who are ahead of us were ahead
 * of it too, or are the node itself. So when it goes, it is our turn, provided that nobody can come in between (see
 * `LockInternalsDriver.isClosed`). Names are unique, so a directory that was made anew cannot mislead us.
 */
export class ServedNodeShortcut {
  readonly #names = new Map<string, string>();

  /** It is the turn of that node of ours. */
  note(directory: string, name: string): void {
    this.#names.delete(directory); // to the end
    this.#names.set(directory, name);
    if (this.#names.size <= CAPACITY) return;
    const [eldest] = this.#names.keys();
    this.#names.delete(eldest!);
  }

  /** Was it the turn of that node? False: not known. */
  has(directory: string, name: string): boolean {
    return this.#names.get(directory) === name;
  }
}

/** Directories remembered; the one not used for longest is forgotten first. */
const CAPACITY = 1_000;

/** What is known of one directory. */
export interface SoleChildEntry {
  readonly directory: string;
  /** A watch tells us before anything else when this very directory is removed, and perhaps made anew. */
  isWatched: boolean;
  /** Number of our last node, if it was the only child and is deleted. */
  lastSequence?: number;
  readonly forget: () => void;
}

/**
 * Saves the listing for whoever takes the same uncontended lock again and again: an acquire is then a single request.
 *
 * The argument: our node `n` was the only child, and we have deleted it. Every child that anybody creates takes the next
 * number of the directory's counter. So if our next node gets `n + 1`, nobody has created anything in between: it is the
 * only child, hence the first. The counter restarts only when the directory is removed and made anew; a watch on the
 * directory, armed while `n` was in it, tells us of that before it answers a create in the new one. When the link goes,
 * watches go, and everything is forgotten.
 */
export class SoleChildShortcut {
  /** Least recently used first. */
  readonly #entries = new Map<string, SoleChildEntry>();

  #latest?: SoleChildEntry;

  constructor(private readonly connection: ZooKeeperConnection) {}

  /** What is known of `directory`, now the most recently used. */
  recall(directory: string): SoleChildEntry | undefined {
    const entry = this.#entries.get(directory);
    if (entry) this.#keep(entry);
    return entry;
  }

  /** Is `entry` still true: its watch has not fired, its link not gone? */
  isCurrent(entry: SoleChildEntry): boolean {
    return this.#entries.get(entry.directory) === entry;
  }

  /** Begins to remember: our node was the only child of `directory`. The next acquire there will watch it. */
  note(directory: string): void {
    const forget = () => {
      if (this.#entries.get(directory) === entry) this.#entries.delete(directory);
      this.connection.unwatch(directory, forget);
    };
    const entry: SoleChildEntry = { directory, isWatched: false, forget };
    this.#keep(entry);
    const [eldest] = this.#entries.values();
    if (this.#entries.size > CAPACITY) eldest?.forget();
  }

  /**
   * Arms the watch of `entry`; to be sent behind the create of a node, whose presence in the listing that follows shows
   * that it is the same directory. Where it fails, the entry is forgotten.
   */
  async watch(entry: SoleChildEntry): Promise<void> {
    try {
      const stat = await this.connection.exists(entry.directory, entry.forget);
      if (stat === undefined) entry.forget();
      entry.isWatched = true;
    } catch {
      entry.forget(); // the attempt's own requests tell of the failure
    }
  }

  #keep(entry: SoleChildEntry): void {
    if (entry === this.#latest && this.isCurrent(entry)) return;
    this.#latest = entry;
    this.#entries.delete(entry.directory);
    this.#entries.set(entry.directory, entry);
  }
}
