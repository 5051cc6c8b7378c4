import { type AcquireRequest, runAcquire } from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { LockHolder } from '../../core/lock-holder.js';
import type { WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren, untilConnected } from '../nodes/node-requests.js';
import { OwnedNode, ProtectedNode } from '../nodes/protected-node.js';
import { createMissingParents, type RetryBounds, RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { SoleChildEntry } from './saved-requests.js';
import { isFirst, type LockInternalsDriver, nodeHolder, type Turn } from './lock-drivers.js';
import type { LockHold } from './lock-hold.js';

/** One acquire under way, of any recipe. */
export interface Acquisition extends RetryBounds {
  /** False if the acquire resolves without the lock instead of waiting for others. */
  readonly mayWait: boolean;
  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  readonly method?: string | undefined;
  /** The holder, while our own node is the next in the queue. */
  holder?: LockHolder | undefined;
  /** Called when the servers have answered: the next failure starts a new series of retries. */
  answered(): void;
}

/**
 * Runs `work` as an acquire and emits its events; settles as `work` does.
 *
 * @param work resolves to the hold, or to `undefined` if it would have to wait but may not
 */
export function runAcquisition(
  context: RecipeContext,
  request: AcquireRequest,
  work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
): Promise<LockHold | undefined> {
  const { key, mayWait, options } = request;
  const { client, retryPolicy } = context;
  return runAcquire(context, request, (wait) => {
    let retry: RetryLoop | undefined;
    return work({
      wait,
      mayWait,
      method: options.method,
      answered: () => (retry = undefined),
      get retry() {
        return (retry ??= new RetryLoop(retryPolicy, wait, { key, client }));
      },
    });
  });
}

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

/** Outcome of an attempt: it holds, its node has vanished (queue again), or others are ahead and it may not wait. */
export type AttemptResult = 'granted' | 'gone' | 'busy';

/**
 * One node in the queue of a lock, from its create to the grant: Curator's `LockInternals.internalLockLoop`.
 *
 * Invariants:
 * - It is granted only while its node, created in the currently connected session, is first. A node of an older session,
 *   which the servers are about to remove, is never granted (CURATOR-604).
 * - From the first wait on, our own node is watched too. That watch reports its loss before the loss of any node deleted
 *   later, so "the only node ahead of ours is gone" is a grant without listing the queue again.
 */
export class LockAttempt {
  readonly node: ProtectedNode;
  /** The watch on our own node; set from the first wait on. */
  ownWatch?: OwnedNode;
  readonly #driver: LockInternalsDriver;
  readonly #wait: WaitScope;
  #memory?: SoleChildEntry;
  /** True if our node was the only one in the queue when it had its turn. */
  #wasAlone = false;
  /** True if, in addition, the watch on the directory was armed by then. */
  #wasWatched = false;

  constructor(
    private readonly context: RecipeContext,
    { driver, digits }: AttemptPlan,
    private readonly directory: string,
    data: Buffer,
    private readonly acquisition: Acquisition,
  ) {
    this.#driver = driver;
    this.#wait = acquisition.wait;
    this.node = new ProtectedNode(context.connection, directory, driver.lockName, data, digits);
  }

  /** Called when the granted node is known to be deleted: records what this attempt saw, for the next acquire. */
  removed(): void {
    const { soleChildren } = this.context;
    if (!this.#wasAlone) return;
    const isKnown = this.#memory !== undefined && soleChildren.isCurrent(this.#memory);
    if (!isKnown) soleChildren.note(this.directory);
    else if (this.#wasWatched) this.#memory!.lastSequence = this.node.sequence;
  }

  /**
   * Rejects with the error that ended the wait or the retries. The caller then removes the node, unless it was granted.
   */
  async run(): Promise<AttemptResult> {
    for (;;) {
      const { connection } = this.context;
      this.#wait.throwIfEnded();
      if (!connection.isConnected) await untilConnected(connection, this.#wait);
      if (!this.node.belongsTo(connection.session) || this.ownWatch?.isGone) return 'gone';
      try {
        const { parents } = this.context;
        if (parents.open.size > 0) await this.#wait.until(parents.settle(this.directory));
        const turn = await this.#turn();
        this.acquisition.answered();
        if (turn === undefined) return 'gone';
        if (!this.node.isInOrder) throw this.acquisition.retry.outOfNumbers(this.directory);
        if (turn.blocker !== undefined) {
          if (!this.acquisition.mayWait) return 'busy';
          this.#wait.contended();
          const isGone = await this.#waitFor(`${this.directory}/${turn.blocker}`, turn.isHeld);
          if (!isGone || !this.#isNext(turn)) continue;
        }
        if (this.#mayGrant()) return this.#granted();
      } catch (error) {
        const { parents } = this.context;
        await createMissingParents(error, this.directory, parents, this.acquisition);
      }
    }
  }

  /**
   * Our place in the queue. In a function of its own: the listing must not stay on the heap while `run` waits, as the
   * listings of N waiters have N² names.
   */
  async #turn(): Promise<(Turn & { readonly isHeld: boolean }) | undefined> {
    const children = await this.#children();
    const turn = this.#driver.turnOf(children, this.node.name);
    if (turn === undefined) return undefined;
    const { blocker, isNext } = turn;
    if (blocker === undefined) this.#lookBack(children);
    const isHeld = blocker !== undefined && isFirst(children, blocker, this.#driver.sortKey);
    return { blocker, isNext, isHeld };
  }

  #granted(): AttemptResult {
    this.context.servedNodes.note(this.directory, this.node.name);
    return 'granted';
  }

  /** True if it is our turn, now that the blocker is gone; false if that is not known. */
  #isNext({ isNext, blocker }: Turn): boolean {
    const { servedNodes } = this.context;
    return isNext || (this.#driver.isClosed && servedNodes.has(this.directory, blocker!));
  }

  #lookBack(children: readonly string[]): void {
    this.#wasAlone = children.length === 1;
    this.#wasWatched = this.#memory?.isWatched === true;
  }

  #mayGrant(): boolean {
    const { connection } = this.context;
    const isCurrent = connection.isConnected && this.node.belongsTo(connection.session);
    return isCurrent && this.node.mayExist && !this.ownWatch?.isGone;
  }

  /** Lists the queue, as of some time after our node was created. */
  #children(): Promise<string[]> {
    if (this.node.isUncertain) return this.#recover();
    if (this.node.path === undefined) return this.#enter();
    return this.#wait.until(listChildren(this.context.listings, this.directory));
  }

  /** Determines whether the node was created although no answer came. */
  async #recover(): Promise<string[]> {
    const children = await this.#wait.until(this.node.locate());
    return this.node.path === undefined ? await this.#enter() : children;
  }

  /**
   * Creates the node and lists the queue in one go: requests are answered in order. If our last node was the only child,
   * and the sequence number of this one shows that no other node was created in between, there is nothing to list.
   */
  async #enter(): Promise<string[]> {
    const { listings, soleChildren } = this.context;
    const { node, directory } = this;
    const memory = node.digits === undefined ? soleChildren.recall(directory) : undefined;
    this.#memory = memory;
    if (memory?.lastSequence !== undefined) {
      const expected = memory.lastSequence + 1;
      memory.lastSequence = undefined; // for one attempt only: a concurrent one would break the argument
      await this.#wait.until(node.create());
      if (soleChildren.isCurrent(memory) && node.sequence === expected) return [node.name];
      return await this.#wait.until(listChildren(listings, directory));
    }
    const created = node.create();
    const watched = memory && !memory.isWatched ? soleChildren.watch(memory) : undefined;
    const all = Promise.all([created, listings.getChildren(directory), watched]);
    const [, children] = await this.#wait.until(all);
    return children;
  }

  /**
   * Resolves when there is a reason to list the queue again; to true if `blocker` is gone, and our own node existed until
   * after that.
   *
   * After a lost connection both watches are set again. While the blocker exists, the queue need not be listed: its
   * waiters, of which there may be thousands, would all list the directory at once.
   */
  async #waitFor(blocker: string, isHolder: boolean): Promise<boolean> {
    const { connection } = this.context;
    this.acquisition.holder = undefined;
    const own = (this.ownWatch ??= new OwnedNode(this.context, this.node.path!));
    while (this.node.belongsTo(connection.session) && !own.isGone) {
      let wake!: (event?: WatchEvent) => void;
      const woken = new Promise<WatchEvent | undefined>((resolve) => (wake = resolve));
      own.onChange = () => wake();
      try {
        // Our own node first. getData instead of exists: on a deleted node, exists would leave a watch behind.
        await this.#wait.until(Promise.all([own.arm(), this.#look(blocker, wake, isHolder)]));
        this.acquisition.answered();
        const event = await this.#wait.until(woken);
        if (event?.type === 'deleted') return true;
      } catch (error) {
        if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
        await this.acquisition.retry.after(error);
      } finally {
        connection.unwatch(blocker, wake);
      }
      if (!connection.isConnected) await untilConnected(connection, this.#wait);
    }
    return false;
  }

  /** Watches the node; of a holder it keeps a few words, as a waiter may wait for long. */
  async #look(path: string, wake: (event: WatchEvent) => void, isHolder: boolean): Promise<void> {
    const { data, stat } = await this.context.connection.getData(path, wake);
    if (isHolder) this.acquisition.holder = nodeHolder(path, data, stat);
  }
}
