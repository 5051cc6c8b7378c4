import type { Session } from '../connection/session.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './next-state-change.js';
import { NodeWatch } from './node-watch.js';
import type { ProtectedNode } from './protected-node.js';

/** Whom a {@link GrantedNode} tells. */
export interface GrantedNodeOwner {
  /** The node is gone, or will be before we could know. */
  nodeLost(why: string): void;
  /** Somebody asks for what the node stands for. */
  nodeRevoked(): void;
}

/**
 * A node that gives us a lock. It is lost when its session ends, or when somebody deletes it.
 *
 * Once watched, the watch is armed again after every reconnect, so a node that went meanwhile is noticed then.
 */
export class GrantedNode {
  #ownWatch?: NodeWatch;
  #watching?: Promise<void>;
  #isOver = false;
  readonly #stopListening: () => void;

  /**
   * @param session in which the node was granted
   * @param ownWatch of the attempt, where that waited; else it is made when first needed
   */
  constructor(
    private readonly connection: ZooKeeperConnection,
    readonly node: ProtectedNode,
    private readonly session: Session,
    private readonly owner: GrantedNodeOwner,
    ownWatch?: NodeWatch,
  ) {
    if (ownWatch) this.#take(ownWatch);
    this.#stopListening = session.onEnd((why) => owner.nodeLost(`its session ended: ${why}`));
  }

  /** May it still give us the lock? Asked of the clock, not of an event that may come late. */
  get isExclusive(): boolean {
    return this.session.isAlive && !this.#ownWatch?.isGone;
  }

  get isWatched(): boolean {
    return this.#ownWatch?.isArmed === true;
  }

  /** The transaction that created it, once it was watched. */
  get czxid(): bigint | undefined {
    return this.#ownWatch?.czxid;
  }

  /** Arms the watch, over lost connections; resolves when it is set, or when the node is lost or given up. */
  keepWatching(): Promise<void> {
    if (this.#watch.isGone) this.owner.nodeLost('somebody deleted its node');
    this.#watching ??= this.#arm().finally(() => (this.#watching = undefined));
    return this.#watching;
  }

  /** It is no longer ours to keep: what comes next is no loss. */
  stop(): void {
    this.#isOver = true;
    this.#ownWatch?.stop();
    this.#stopListening();
  }

  get #watch(): NodeWatch {
    return this.#ownWatch ?? this.#take(new NodeWatch(this.connection, this.node.path!));
  }

  #take(watch: NodeWatch): NodeWatch {
    watch.onChange = () => void this.keepWatching();
    watch.onRevoked = () => this.owner.nodeRevoked();
    if (watch.wasRevoked) this.owner.nodeRevoked(); // while it queued
    return (this.#ownWatch = watch);
  }

  async #arm(): Promise<void> {
    const isDone = () => this.isWatched && this.czxid !== undefined;
    while (!this.#isOver && this.isExclusive && !isDone()) {
      try {
        await this.#watch.arm(); // tells by onChange when the node is gone
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        if (!error.isConnectionLoss)
          return this.owner.nodeLost(`its node cannot be read (${error.message})`);
        if (!this.connection.isConnected) await nextStateChange(this.connection).changed;
      }
    }
  }
}
