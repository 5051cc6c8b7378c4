import type { Clock } from '../../core/clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/**
 * Saves the listing for a waiter behind a node of the same client: remembers, for each directory, the last node of this
 * client that had its turn.
 *
 * The argument: when that node had its turn, no node ahead of it could keep us waiting. All nodes ahead of ours were ahead
 * of it too, or are the node itself. So when it is deleted, it is our turn, provided that no node can come in between (see
 * `LockInternalsDriver.isClosed`). Names are unique, so a recreated directory cannot mislead us.
 */
export class ServedNodeShortcut {
  readonly #names = new Map<string, string>();

  /** Records that it is the turn of that node of ours. */
  note(directory: string, name: string): void {
    this.#names.delete(directory); // to the end
    this.#names.set(directory, name);
    if (this.#names.size <= CAPACITY) return;
    const [eldest] = this.#names.keys();
    this.#names.delete(eldest!);
  }

  /** True if that node had its turn; false if that is not known. */
  has(directory: string, name: string): boolean {
    return this.#names.get(directory) === name;
  }
}

/** Number of directories remembered; the least recently used is forgotten first. */
const CAPACITY = 1_000;

/** What is known of one directory. */
export interface SoleChildEntry {
  readonly directory: string;
  /** True if a watch reports, before anything else, the removal of this very directory, even if it was recreated. */
  isWatched: boolean;
  /** Sequence number of our last node, if it was the only child and is deleted. */
  lastSequence?: number;
  readonly forget: () => void;
}

/**
 * Saves the listing for a client that acquires the same uncontended lock repeatedly: an acquire is then a single request.
 *
 * The argument: our node `n` was the only child, and we have deleted it. Every child, of any client, takes the next number
 * of the directory's counter. So if our next node gets `n + 1`, no child was created in between: ours is the only child,
 * hence the first. The counter restarts only when the directory is removed and recreated; a watch on the directory, armed
 * while `n` was in it, reports that before a create in the new one is answered. When the connection is lost, the watches
 * are lost with it, and everything is forgotten.
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

  /** Whether `entry` is still valid: its watch has not fired and its connection was not lost. */
  isCurrent(entry: SoleChildEntry): boolean {
    return this.#entries.get(entry.directory) === entry;
  }

  /**
   * Records that our node was the only child of `directory`. The next acquire there will watch the directory. What an attempt
   * that overlapped has recorded meanwhile stays: its watch may be armed.
   */
  note(directory: string): void {
    if (this.#entries.has(directory)) return;
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
   * Arms the watch of `entry`; to be sent after the create of a node: the presence of that node in the listing that follows
   * shows that the directory is the same. If arming fails, the entry is forgotten.
   */
  async watch(entry: SoleChildEntry): Promise<void> {
    try {
      const stat = await this.connection.exists(entry.directory, entry.forget);
      if (stat === undefined) entry.forget();
      entry.isWatched = true;
    } catch {
      entry.forget(); // the attempt's own requests report the failure
    }
  }

  #keep(entry: SoleChildEntry): void {
    if (entry === this.#latest && this.isCurrent(entry)) return;
    this.#latest = entry;
    this.#entries.delete(entry.directory);
    this.#entries.set(entry.directory, entry);
  }
}

/** A hold to be watched once it has lasted long enough. */
export interface WatchableHold {
  /** Time of the grant, by the client's clock. */
  readonly heldSince: number;
  watch(): void;
}

/**
 * Watches the holds that last longer than `after` milliseconds; shorter ones are spared the request.
 *
 * One timer serves all holds: starting and stopping one for every hold would cost more than the rest of an acquire.
 */
export class DelayedWatches {
  /** Holds not yet watched, the oldest first. */
  readonly #waiting = new Set<WatchableHold>();
  #isTicking = false;

  constructor(
    private readonly clock: Clock,
    private readonly after: number,
  ) {}

  add(hold: WatchableHold): void {
    this.#waiting.add(hold);
    if (!this.#isTicking) this.#tickIn(this.after);
  }

  remove(hold: WatchableHold): void {
    this.#waiting.delete(hold);
  }

  #tickIn(ms: number): void {
    this.#isTicking = true;
    this.clock.setTimer(() => this.#tick(), ms, true);
  }

  #tick(): void {
    this.#isTicking = false;
    for (const hold of this.#waiting) {
      const remaining = hold.heldSince + this.after - this.clock.now();
      if (remaining > 0) return this.#tickIn(remaining);
      this.#waiting.delete(hold);
      hold.watch();
    }
  }
}
