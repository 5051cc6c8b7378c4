import type { WaitScope } from '../../core/wait-scope.js';
import { ReturnCode } from '../connection/return-code.js';
import type { WatchEvent } from '../connection/watch-event.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { childrenOf } from './children-of.js';
import { connectedSession } from './connected-session.js';
import type { LockInternalsDriver } from './lock-internals-driver.js';
import { NodeWatch } from './node-watch.js';
import { ProtectedNode } from './protected-node.js';
import type { RecipeContext } from './recipe-context.js';
import type { RetryLoop } from './retry-loop.js';

/** How an attempt ended: it holds, its node has vanished (queue again), or others are ahead and it may not wait. */
export type AttemptResult = 'granted' | 'gone' | 'busy';

/**
 * One node in the queue of a lock, from its create to the grant: Curator's `LockInternals.internalLockLoop`.
 *
 * Invariants:
 * - It is granted only while its node, made in the session that is connected now, is first. Never on a node of an older
 *   session, which the servers are about to remove (CURATOR-604).
 * - From the first wait on, the own node is watched too. That watch tells of its loss before the loss of any node that
 *   went later; so "the only one ahead of me is gone" is a grant without another look at the queue.
 */
export class LockAttempt {
  readonly node: ProtectedNode;
  #ownWatch?: NodeWatch;

  constructor(
    private readonly context: RecipeContext,
    private readonly driver: LockInternalsDriver,
    private readonly directory: string,
    private readonly wait: WaitScope,
    private readonly retry: RetryLoop,
  ) {
    this.node = new ProtectedNode(context.connection, directory, driver.lockName, context.nodeData);
  }

  /** The watch on the own node; set from the first wait on. */
  get ownWatch(): NodeWatch | undefined {
    return this.#ownWatch;
  }

  /**
   * Rejects with what ended the wait or the retries. Unless it was granted, the node is then to be removed.
   *
   * @param mayWait false: come back `busy` instead of waiting
   * @param onContended called each time before it waits
   */
  async run(mayWait: boolean, onContended: () => void): Promise<AttemptResult> {
    for (;;) {
      const session = await connectedSession(this.context.connection, this.wait);
      if (!this.node.belongsTo(session) || this.#ownWatch?.isGone) return 'gone';
      try {
        const turn = this.driver.turnOf(await this.#children(), this.node.name);
        if (turn === undefined) return 'gone';
        if (turn.blocker === undefined) {
          if (this.#mayGrant()) return 'granted';
          continue;
        }
        if (!mayWait) return 'busy';
        onContended();
        const isGone = await this.#waitFor(`${this.directory}/${turn.blocker}`, this.node.path!);
        if (isGone && turn.isNext && this.#mayGrant()) return 'granted';
      } catch (error) {
        await this.#mend(error);
      }
    }
  }

  #mayGrant(): boolean {
    const { connection } = this.context;
    const isCurrent = connection.isConnected && this.node.belongsTo(connection.session);
    return isCurrent && this.node.mayExist && !this.#ownWatch?.isGone;
  }

  /** The queue. The first time the own node is created and the queue is read in one go: requests are answered in order. */
  async #children(): Promise<string[]> {
    const { connection } = this.context;
    if (this.node.isUncertain) {
      const children = await this.wait.until(this.node.locate());
      if (this.node.path !== undefined) return children;
    }
    if (this.node.path !== undefined)
      return this.wait.until(childrenOf(connection, this.directory));
    const both = Promise.all([this.node.create(), connection.getChildren(this.directory)]);
    const [, children] = await this.wait.until(both);
    return children;
  }

  /** Resolves when there is a reason to look again; true: `blocker` is gone, and the own node was there until after that. */
  async #waitFor(blocker: string, own: string): Promise<boolean> {
    const { connection } = this.context;
    let wake!: (event?: WatchEvent) => void;
    const woken = new Promise<WatchEvent | undefined>((resolve) => (wake = resolve));
    this.#ownWatch ??= new NodeWatch(connection, own);
    this.#ownWatch.onChange = () => wake();
    try {
      // getData, not exists: on a node that has gone, exists would leave a watch behind.
      await this.wait.until(Promise.all([this.#ownWatch.arm(), connection.getData(blocker, wake)]));
      const event = await this.wait.until(woken);
      return event?.type === 'deleted';
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
      throw error;
    } finally {
      connection.unwatch(blocker, wake);
    }
  }

  /** Makes the directory where that was missing; for the rest, asks the retry policy. */
  async #mend(error: unknown): Promise<void> {
    if (!ZooKeeperError.is(error, ReturnCode.NONODE)) return this.retry.after(error);
    try {
      await this.wait.until(this.context.parents.make(this.directory));
    } catch (failure) {
      if (!ZooKeeperError.is(failure, ReturnCode.NONODE)) await this.retry.after(failure);
    }
  }
}
