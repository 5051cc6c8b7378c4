import type { WaitScope } from '../../core/internal/wait-scope.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { Change, listChildren, untilConnected } from '../nodes/node-requests.js';
import { OwnedNode } from '../nodes/owned-node.js';
import { ProtectedNode } from '../nodes/protected-node.js';
import { createMissingParents } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { Acquisition } from './acquisition.js';
import type { KnownQueue } from './known-queues.js';
import { type LockInternalsDriver, nodeHolder, type Turn } from './lock-drivers.js';

/** Parameters of one attempt. */
export interface AttemptPlan {
  readonly driver: LockInternalsDriver;
  /** Sequence number of the node, as in `ProtectedNode`. */
  readonly digits?: string | undefined;
  /** Fencing token of the hold; default: that of its own node. */
  readonly token?: bigint | undefined;
}

/** Makes the plan of the next attempt, under the bounds of the acquire. */
export type PlanOf = (wait: WaitScope) => AttemptPlan | Promise<AttemptPlan>;

/** State of an attempt: it holds, its node has vanished (queue again), or another node is ahead. */
export type AttemptState = 'granted' | 'gone' | 'blocked';

/**
 * Most nodes that are asked for one by one, instead of listing the queue: those of other clients between two of ours. One of
 * them costs about as much as that many names of a listing.
 */
const MOST_ASKED = 100;
const NAMES_EACH = 16;

/**
 * One node in the queue of a lock, from its create to the grant: Curator's `LockInternals.internalLockLoop`.
 *
 * Invariants:
 * - It is granted only while its node, created in the currently connected session, is first. A node of an older session,
 *   which the servers are about to remove, is never granted (CURATOR-604).
 * - From the first wait on, our own node is watched too. That watch reports its loss before the loss of any node deleted
 *   later, and before an answer that shows such a loss. So "all nodes ahead of ours are gone" is a grant without listing the
 *   queue again, as long as ours is not reported lost (see `KnownQueue`).
 */
export class LockAttempt {
  readonly node: ProtectedNode;
  /** The watch on our own node; set from the first wait on. */
  ownWatch?: OwnedNode;
  readonly #driver: LockInternalsDriver;
  readonly #wait: WaitScope;
  readonly #queue: KnownQueue;
  /** The node that we wait for, while the state is `blocked`. */
  #blocker?: Required<Turn>;
  /** True if the node that we waited for is gone, and ours existed until after that. */
  #isFollowing = false;

  constructor(
    private readonly context: RecipeContext,
    { driver, digits }: AttemptPlan,
    private readonly directory: string,
    data: Buffer,
    private readonly acquisition: Acquisition,
  ) {
    this.#driver = driver;
    this.#wait = acquisition.wait;
    this.node = new ProtectedNode(context, directory, driver.lockName, data, digits);
    this.#queue = context.queues.of(directory, driver);
    this.#queue.joined();
  }

  /** Called once, when the node is released or given up and its removal was attempted; `isGone`: it is known to be deleted. */
  left(isGone: boolean): void {
    if (isGone) this.#queue.gone(this.node.name);
    this.#queue.left();
  }

  /**
   * Looks at our place in the queue, which is entered first; not while `untilUnblocked` is under way.
   *
   * Rejects with the error that ended the wait or the retries. The caller then removes the node, unless it was granted.
   */
  async advance(): Promise<AttemptState> {
    for (;;) {
      const { connection, parents } = this.context;
      this.#wait.throwIfEnded();
      if (!connection.isConnected) await untilConnected(connection, this.#wait);
      if (!this.node.belongsTo(connection.session) || this.ownWatch?.isGone) return 'gone';
      try {
        if (parents.open.size > 0) await this.#wait.until(parents.settle(this.directory));
        const turn = await this.#turn();
        this.acquisition.answered();
        if (turn === undefined) return 'gone';
        if (!this.node.isInOrder) throw this.acquisition.retry.outOfNumbers(this.directory);
        if (turn.blocker !== undefined) {
          this.#blocker = { blocker: turn.blocker, isHeld: turn.isHeld === true };
          return 'blocked';
        }
        if (this.#mayGrant()) {
          this.#queue.served(this.node.name, this.#driver);
          return 'granted';
        }
      } catch (error) {
        const { refusedBytes } = this.node;
        await createMissingParents(error, this.directory, parents, this.acquisition, refusedBytes);
      }
    }
  }

  /**
   * Our place in the queue. In a function of its own: a listing must not stay on the heap while the acquire waits, as
   * the listings of N waiters have N² names.
   */
  async #turn(): Promise<Turn | undefined> {
    const isFollowing = this.#isFollowing && this.#driver.isClosed;
    this.#isFollowing = false;
    if (isFollowing && (await this.#lookAhead()))
      return this.#queue.turnOf(this.node.name, this.#driver);
    const children = await this.#children();
    if (children && this.#driver.turnOf) return this.#driver.turnOf(children, this.node.name);
    const turn = this.#queue.turnOf(this.node.name, this.#driver);
    const isSeen = children !== undefined || turn?.blocker === undefined;
    if (isSeen || this.acquisition.mayWait) return turn; // who waits looks at the blocker itself
    await this.#children(); // the blocker may be gone without our knowing
    return this.#queue.turnOf(this.node.name, this.#driver);
  }

  /** Asks which of the nodes ahead are still there, if they are few; resolves to false if the queue is to be listed instead. */
  async #lookAhead(): Promise<boolean> {
    const { context, directory, node } = this;
    const ahead = this.#queue.ahead(node.name, this.#driver);
    if (ahead === undefined) return false;
    if (ahead === 0) return true;
    if (ahead > MOST_ASKED || ahead * NAMES_EACH > this.#queue.size) return false;
    const own = this.ownWatch!;
    const names = this.#queue.namesAhead(node.name, this.#driver);
    const armed = own.arm(); // first: what follows it on this connection proves something only if our own node is there
    const looks = names.map((name) => context.connection.exists(`${directory}/${name}`));
    const [, ...stats] = await this.#wait.until(Promise.all([armed, ...looks]));
    if (own.isGone) return false;
    for (const [at, name] of names.entries()) if (stats[at] === undefined) this.#queue.gone(name);
    return true;
  }

  #mayGrant(): boolean {
    const { connection } = this.context;
    const isCurrent = connection.isConnected && this.node.belongsTo(connection.session);
    return isCurrent && this.node.mayExist && !this.ownWatch?.isGone;
  }

  /**
   * The queue, as of some time after our node was created, which is created first; what is known of it is brought up to date.
   * `undefined` if that was possible without a listing.
   */
  #children(): Promise<string[] | undefined> {
    const { isUncertain, path } = this.node;
    return !isUncertain && path === undefined ? this.#enter() : this.#list();
  }

  async #list(): Promise<string[] | undefined> {
    const { node } = this;
    const watch = this.#queue.watchSent;
    const { listings } = this.context;
    const listed = node.isUncertain ? node.locate() : listChildren(listings, this.directory);
    const children = await this.#wait.until(listed);
    if (node.path === undefined) return await this.#enter(); // it was not created
    return this.#listed(children, watch);
  }

  /**
   * Creates the node and lists the queue in one go: requests are answered in order. Where no other client is expected, only
   * the number of the node is awaited: if it is the next, there is nothing to list.
   */
  async #enter(): Promise<string[] | undefined> {
    const { listings } = this.context;
    const { node, directory } = this;
    const queue = this.#queue;
    const created = node.create();
    if (node.digits === undefined && queue.isPredictable) {
      await this.#wait.until(created);
      if (queue.entered(node)) return undefined;
      const sent = queue.watchSent;
      return this.#listed(await this.#wait.until(listChildren(listings, directory)), sent);
    }
    const watched = queue.isToWatch ? queue.watch() : undefined;
    const watch = queue.watchSent;
    const all = Promise.all([created, listings.getChildren(directory), watched]);
    const [, children] = await this.#wait.until(all);
    return this.#listed(children, watch);
  }

  #listed(children: string[], watch: object | undefined): string[] {
    if (this.node.digits === undefined) this.#queue.listed(children, this.node, watch);
    return children;
  }

  /**
   * Resolves when the node that we wait for is gone, or ours, or its session. A part of its own, beside `advance`: each async
   * function that waits keeps half a KB.
   *
   * After a lost connection both watches are set again. While the blocker exists, the queue need not be listed: its
   * waiters, of which there may be thousands, would all list the directory at once.
   */
  async untilUnblocked(): Promise<void> {
    const { blocker: name, isHeld } = this.#blocker!;
    const { connection } = this.context;
    const blocker = `${this.directory}/${name}`;
    this.acquisition.holder = undefined;
    const own = (this.ownWatch ??= new OwnedNode(this.context, this.node));
    while (this.node.belongsTo(connection.session) && !own.isGone) {
      const change = new Change();
      own.onChange = change.heard;
      try {
        // Our own node first. getData instead of exists: on a deleted node, exists would leave a watch behind.
        await this.#wait.until(Promise.all([own.arm(), this.#look(blocker, change, isHeld)]));
        this.acquisition.answered();
        this.#wait.contended();
        await change.come(this.#wait);
        if (change.isDeletion) return this.#passed(name);
      } catch (error) {
        if (ZooKeeperError.is(error, ReturnCode.NONODE)) {
          if (!own.isGone) this.#passed(name);
          return;
        }
        await this.acquisition.retry.after(error);
      } finally {
        connection.unwatch(blocker, change.heard);
      }
      if (!connection.isConnected) await untilConnected(connection, this.#wait);
    }
  }

  #passed(blocker: string): void {
    this.#queue.gone(blocker);
    this.#isFollowing = true;
  }

  /** Watches the node; of a holder it keeps a few words, as a waiter may wait for long. */
  async #look(path: string, { heard }: Change, isHolder: boolean): Promise<void> {
    const { data, stat } = await this.context.connection.getData(path, heard);
    if (isHolder) this.acquisition.holder = nodeHolder(path, data, stat);
  }
}
