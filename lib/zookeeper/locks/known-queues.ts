import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { LockInternalsDriver, Turn } from './lock-drivers.js';
import { SortedNames } from './sorted-names.js';

/** A node of ours in a queue. */
interface QueuedNode {
  readonly name: string;
  readonly sequence: number;
}

/** Most names that a client keeps of a queue in which it has no node. */
const FEW = 16;

/**
 * What one client knows of the queue of one directory, so that it need not list it for each of its nodes: a listing, brought
 * up to date by what happens to the client's own nodes.
 *
 * Facts that are true for ever, whichever server has told them, and across lost connections:
 * - A name that is gone never comes back: names have a UUID and a number of their own.
 * - No node enters ahead of one of ours: while ours exists, so does the directory, and each node in it gets a greater number.
 *   (Only a reader inside of a write lock does: see `LockInternalsDriver.isClosed`.)
 *
 * So what may still keep a node of ours waiting are those names ahead of it, in any listing that shows it, that are not known
 * to be gone. `NONODE` shows that a name is gone, provided that the server has shown our own node on the same connection before
 * (see `OwnedNode.arm`): the name is older than our node, so a server that has one has had the other.
 *
 * Completeness, which is for new nodes: every child that exists, of those that were created before our node with the number
 * `#upTo` or are that node, is in the list. A listing that shows a node of ours makes it so, up to that node. As every child,
 * of any client, takes the next number, a new node with the number `#upTo + 1` is the only one created since, and need not
 * list. The counter restarts when the directory is removed and made anew; so that counts only while a watch on the directory
 * is set, which was sent before that listing: it reports the removal before any answer that shows the new directory. A lost
 * connection ends it.
 */
export class KnownQueue {
  #all: SortedNames;
  /** Those among them that keep readers waiting. */
  #writers?: SortedNames;
  /** The listings that were adopted, of which the last counts: their answers come in order. */
  readonly #adopted = new WeakSet<readonly string[]>();
  /** The number up to which the list is complete; none if there is no listing. */
  #upTo = -1;
  /** Identity of the watch on the directory, from when it was sent until it has fired. */
  #watch?: object;
  /** The watch that was sent before the list was requested. */
  #listedUnder?: object;
  /** Whether our last node came directly behind the one before: if so, the next one is likely to, too. */
  #isQuiet = true;
  /** Number of nodes of ours that queue or hold. */
  #own = 0;

  constructor(
    readonly directory: string,
    private readonly connection: ZooKeeperConnection,
    readonly sortKey: LockInternalsDriver['sortKey'],
    private readonly isWriter: LockInternalsDriver['isWriter'],
  ) {
    this.#all = new SortedNames([], sortKey);
  }

  /** Number of names known. */
  get size(): number {
    return this.#all.size;
  }

  /** Whether a new node is likely to be `entered` without a listing. */
  get isPredictable(): boolean {
    return this.#isQuiet && this.#isComplete;
  }

  /** Whether to send the watch on the directory with the next node: not for a directory that is used once. */
  get isToWatch(): boolean {
    return this.#watch === undefined && this.#upTo >= 0 && this.#isQuiet;
  }

  /** Identity of the watch on the directory; to be passed on to `listed`. */
  get watchSent(): object | undefined {
    return this.#watch;
  }

  /**
   * Sets the watch on the directory. To be sent behind the create of a node and ahead of a listing: if that shows the node,
   * the directory is the same. Never rejects: the requests beside it report the failure.
   */
  async watch(): Promise<void> {
    const watch = (this.#watch = { heard: () => this.#forget(watch) });
    try {
      const stat = await this.connection.exists(this.directory, watch.heard);
      if (stat === undefined) this.#forget(watch);
    } catch {
      this.#forget(watch);
    }
  }

  /**
   * Adopts a listing that was requested after `own` was created, unless another caller that shares it has done so.
   *
   * @param watch `watchSent` when it was requested
   */
  listed(children: readonly string[], own: QueuedNode, watch: object | undefined): void {
    if (!this.#adopted.has(children)) {
      this.#adopted.add(children);
      this.#all = new SortedNames(children, this.sortKey);
      this.#writers =
        this.isWriter && new SortedNames(children.filter(this.isWriter), this.sortKey);
      this.#listedUnder = watch;
      const isNew = own.sequence > this.#upTo;
      if (isNew) this.#isQuiet = this.#upTo < 0 || own.sequence === this.#upTo + 1;
      this.#upTo = -1;
    }
    if (this.#all.has(own.name)) this.#upTo = Math.max(this.#upTo, own.sequence);
  }

  /** Adds a new node of ours, if it is the only one since: true if so. Otherwise the queue must be listed. */
  entered(own: QueuedNode): boolean {
    this.#isQuiet = this.#isComplete && own.sequence === this.#upTo + 1;
    if (!this.#isQuiet) return false;
    this.#all.add(own.name);
    if (this.isWriter?.(own.name)) this.#writers?.add(own.name);
    this.#upTo = own.sequence;
    return true;
  }

  /** The turn of a node of ours; `undefined` if it is not known to be in the queue. */
  turnOf(own: string, driver: LockInternalsDriver): Turn | undefined {
    if (!this.#all.has(own)) return undefined;
    const blocker = this.#blockers(driver).nearest(own);
    if (blocker === undefined) return {};
    return { blocker, isHeld: this.#all.first === blocker };
  }

  /** Number of nodes that may have to go before it is the turn of a node of ours; `undefined` if it is not in the queue. */
  ahead(own: string, driver: LockInternalsDriver): number | undefined {
    return this.#all.has(own) ? this.#blockers(driver).ahead(own) : undefined;
  }

  /** Their names. */
  namesAhead(own: string, driver: LockInternalsDriver): string[] {
    return this.#blockers(driver).namesAhead(own);
  }

  /**
   * Records that it is the turn of that node of ours: none of those that it waited for is left. A reader inside of a write lock has
   * its turn beside its writer, which may be ahead of it and still keeps others waiting.
   */
  served(own: string, driver: LockInternalsDriver): void {
    if (driver.turnOf === undefined && this.#all.has(own)) this.#blockers(driver).deleteAhead(own);
  }

  /** Records that the servers have shown that this name is gone. */
  gone(name: string): void {
    this.#all.delete(name);
    this.#writers?.delete(name);
  }

  /** Records that a node of ours is about to be created. */
  joined(): void {
    this.#own += 1;
  }

  /** Records that a node of ours is released or given up, once for each that has joined. */
  left(): void {
    this.#own -= 1;
    if (this.#own > 0 || this.size <= FEW) return;
    this.#all = new SortedNames([], this.sortKey);
    this.#writers = undefined;
    this.#listedUnder = undefined;
    this.#upTo = -1;
  }

  /** Removes the watch. */
  close(): void {
    if (this.#watch !== undefined) this.#forget(this.#watch as { heard: () => void });
  }

  get #isComplete(): boolean {
    return this.#watch !== undefined && this.#listedUnder === this.#watch;
  }

  #blockers({ waitsFor }: LockInternalsDriver): SortedNames {
    return (waitsFor === 'writers' ? this.#writers : undefined) ?? this.#all;
  }

  #forget(watch: { readonly heard: () => void }): void {
    if (this.#watch === watch) this.#watch = undefined;
    this.connection.unwatch(this.directory, watch.heard);
  }
}

/** Number of queues remembered; the least recently used is forgotten first. */
const CAPACITY = 1_000;

/** What one client knows of the queues of its locks. */
export class KnownQueues {
  /** Least recently used first. */
  readonly #queues = new Map<string, KnownQueue>();
  #latest?: KnownQueue;

  constructor(private readonly connection: ZooKeeperConnection) {}

  /** The queue of that directory, now the most recently used. */
  of(directory: string, { sortKey, isWriter }: LockInternalsDriver): KnownQueue {
    if (this.#latest?.directory === directory && this.#latest.sortKey === sortKey)
      return this.#latest;
    const known = this.#queues.get(directory);
    const isSame = known?.sortKey === sortKey;
    if (!isSame) known?.close();
    const queue = isSame ? known : new KnownQueue(directory, this.connection, sortKey, isWriter);
    this.#latest = queue;
    this.#queues.delete(directory);
    this.#queues.set(directory, queue);
    if (this.#queues.size > CAPACITY) this.#forgetEldest();
    return queue;
  }

  #forgetEldest(): void {
    const [eldest] = this.#queues.values();
    this.#queues.delete(eldest!.directory);
    eldest!.close();
  }
}
