import type { LockLostError } from '../../core/errors/index.js';
import { Hold, type HoldBackend, type LockIdentity } from '../../core/hold.js';
import type { Session } from '../connection/session.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockAttempt } from './lock-attempt.js';
import { nextStateChange } from './next-state-change.js';
import type { WatchableHold } from './long-holds.js';
import { NodeWatch } from './node-watch.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * A granted lock node. It is lost when its session ends, or when somebody deletes the node.
 *
 * Once watched, the watch is armed again after every reconnect, so a node that went meanwhile is noticed then.
 */
export class LockHold implements HoldBackend, WatchableHold {
  readonly hold: Hold;
  /** Set by the attempt where it waited, else when the first one asks for it. */
  #ownWatch?: NodeWatch;
  readonly heldSince: number;
  readonly #stopListening: () => void;
  #watching?: Promise<void>;

  /** @param attempt the one that was granted, in `session` */
  constructor(
    private readonly context: RecipeContext,
    identity: LockIdentity,
    readonly key: string,
    private readonly attempt: LockAttempt,
    private readonly session: Session,
  ) {
    this.hold = new Hold(identity, { key, client: context.client }, this);
    if (attempt.ownWatch) this.#take(attempt.ownWatch);
    this.heldSince = context.clock.now();
    context.holds.add(this.hold);
    this.#stopListening = session.onEnd((reason) => this.hold.lose(`its session ended: ${reason}`));
    if (!this.#ownWatch?.isArmed) context.longHolds.add(this); // also where a reconnect disarmed it
  }

  watch(): void {
    void this.#keepWatching();
  }

  isExclusive(): boolean {
    return this.session.isAlive && !this.#ownWatch?.isGone;
  }

  async fencingToken(): Promise<bigint> {
    if (this.#watch.czxid === undefined) await this.#keepWatching();
    const { lost } = this.hold;
    if (lost) throw lost;
    return this.#watch.czxid!;
  }

  lost(error: LockLostError): void {
    this.context.events.emit('lost', { key: this.key, error });
  }

  async free(): Promise<void> {
    const { context, key, hold } = this;
    const wasLost = hold.lost !== undefined;
    this.#ownWatch?.stop(); // what comes next is no loss
    const removed = context.removals.remove(this.attempt.node); // sent at once; the rest is done meanwhile
    context.longHolds.remove(this);
    context.holds.delete(hold);
    this.#stopListening();
    if (await removed) this.attempt.removed();
    if (!wasLost)
      context.events.emit('released', { key, heldMs: context.clock.now() - this.heldSince });
  }

  get #watch(): NodeWatch {
    return (
      this.#ownWatch ?? this.#take(new NodeWatch(this.context.connection, this.attempt.node.path!))
    );
  }

  #take(watch: NodeWatch): NodeWatch {
    watch.onChange = () => void this.#keepWatching();
    return (this.#ownWatch = watch);
  }

  /** Arms the watch, over lost connections, until it is set or the lock is gone. */
  #keepWatching(): Promise<void> {
    if (this.#watch.isGone) this.hold.lose('somebody deleted its node');
    this.#watching ??= this.#arm().finally(() => (this.#watching = undefined));
    return this.#watching;
  }

  async #arm(): Promise<void> {
    const { connection } = this.context;
    const isDone = () => this.#watch.isArmed && this.#watch.czxid !== undefined;
    while (this.hold.isLive && !isDone()) {
      try {
        await this.#watch.arm(); // tells by onChange when the node is gone
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        if (!error.isConnectionLoss)
          return this.hold.lose(`its node cannot be read (${error.message})`);
        if (!connection.isConnected) await nextStateChange(connection).changed;
      }
    }
  }
}
