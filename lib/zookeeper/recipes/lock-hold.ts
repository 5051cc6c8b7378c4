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
  readonly #watch: NodeWatch;
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
    const { ownWatch, node } = attempt;
    this.#watch = ownWatch ?? new NodeWatch(context.connection, node.path!);
    this.#watch.onChange = () => void this.#keepWatching();
    this.heldSince = context.clock.now();
    context.holds.add(this.hold);
    this.hold.onLost((error) => context.events.emit('lost', { key, error }));
    this.#stopListening = session.onEnd((reason) => this.hold.lose(`its session ended: ${reason}`));
    if (!this.#watch.isArmed) context.longHolds.add(this); // also where a reconnect disarmed it
  }

  watch(): void {
    void this.#keepWatching();
  }

  isExclusive(): boolean {
    return this.session.isAlive && !this.#watch.isGone;
  }

  async fencingToken(): Promise<bigint> {
    if (this.#watch.czxid === undefined) await this.#keepWatching();
    const { lost } = this.hold;
    if (lost) throw lost;
    return this.#watch.czxid!;
  }

  async free(): Promise<void> {
    const { context, key, hold } = this;
    const wasLost = hold.lost !== undefined;
    context.longHolds.remove(this);
    this.#stopListening();
    this.#watch.stop();
    context.holds.delete(hold);
    if (await context.removals.remove(this.attempt.node)) this.attempt.removed();
    if (!wasLost)
      context.events.emit('released', { key, heldMs: context.clock.now() - this.heldSince });
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
