import type { Session } from '../connection/session.js';
import type { WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import { afterTransient } from './node-requests.js';
import type { ProtectedNode } from './protected-node.js';

const nothing = () => {};

/** Data written to the node of a lock to request its revocation, as by Curator's `Revoker`. */
export const REVOKE_MESSAGE = Buffer.from('__REVOKE__');

/** The owner of a granted node, notified by its watch. */
export interface NodeOwner {
  /** The node is gone, or will be before we could learn of it. */
  nodeLost(why: string): void;
  /** The revocation of the node was requested. */
  nodeRevoked(): void;
}

/**
 * Our own lock node with a watch, which detects a deletion by others and revocation requests: while the node queues and,
 * once granted, until its session ends. From the grant on, the watch is set again after every reconnect, so that a deletion
 * in the meantime is detected then.
 *
 * The events of a session come in the order of their transactions: while this watch is armed, the loss of our own node is
 * reported before that of any node deleted after it.
 */
export class OwnedNode {
  /** Whether the watch is set on the server, as far as we know. */
  isArmed = false;
  /** True if the node is gone although it was not removed here. */
  isGone = false;
  /** Full path of the node. */
  readonly path: string;
  /** The transaction that created the node, once known: the fencing token. */
  czxid: bigint | undefined;
  #isStopped = false;
  /** The transaction that last requested a revocation; 0 if there was none. */
  #revokedBy = 0;
  #arming?: Promise<void>;
  #session?: Session;
  #owner?: NodeOwner;
  #keeping?: Promise<void>;
  #stopListening?: () => void;

  /** Called while the node queues, when it is gone (see `isGone`), or when the watch is no longer set. */
  onChange: () => void = nothing;

  constructor(
    private readonly context: Pick<RecipeContext, 'connection' | 'clock'>,
    { path, czxid }: Pick<ProtectedNode, 'path' | 'czxid'>,
  ) {
    this.path = path!;
    this.czxid = czxid === undefined ? undefined : BigInt(czxid);
  }

  /** Whether the node, once granted, may still give us the lock. Decided by the clock, as an event may come late. */
  get isExclusive(): boolean {
    return this.#session?.isAlive === true && !this.isGone;
  }

  /**
   * Sets the watch, unless it is set, and reads `czxid`; sends at once. May be called again while this is under way.
   *
   * Rejects with `ZooKeeperError` if no answer came.
   */
  async arm(): Promise<void> {
    if (this.isArmed || this.isGone || this.#isStopped) return await this.#arming;
    this.isArmed = true; // now: the event may come before the answer is processed
    this.#arming = this.#read().finally(() => (this.#arming = undefined));
    await this.#arming;
  }

  /** Called at each grant, in `session`: from now on `owner` alone is notified of a loss and of requests, also of earlier ones. */
  guard(session: Session, owner: NodeOwner): void {
    this.#stopListening?.();
    this.#session = session;
    this.#owner = owner;
    const watchAgain = () => void this.keepWatching();
    this.onChange = watchAgain;
    if (this.#revokedBy > 0) owner.nodeRevoked();
    this.#stopListening = session.onEnd((why) => owner.nodeLost(`its session ended: ${why}`));
  }

  /** Arms the watch, across lost connections; resolves when it is set, or when the node is lost or `stop` was called. */
  keepWatching(): Promise<void> {
    if (this.isGone) this.#owner?.nodeLost('its node was deleted');
    this.#keeping ??= this.#keepArmed().finally(() => (this.#keeping = undefined));
    return this.#keeping;
  }

  /** Stops watching, because we delete the node ourselves or its session has ended. What happens next is no loss. */
  stop(): void {
    this.#isStopped = true;
    this.context.connection.unwatch(this.path, this.#hear);
    this.#stopListening?.();
  }

  async #keepArmed(): Promise<void> {
    const isDone = () => this.isArmed && this.czxid !== undefined;
    while (!this.#isStopped && this.isExclusive && !isDone()) {
      try {
        await this.arm(); // calls `onChange` when the node is gone
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        if (!error.isTransient)
          return this.#owner?.nodeLost(`its node cannot be read (${error.message})`);
        await afterTransient(this.context, error);
      }
    }
  }

  async #read(): Promise<void> {
    try {
      const { data, stat } = await this.context.connection.getData(this.path, this.#hear);
      this.czxid = BigInt(stat.czxid);
      if (REVOKE_MESSAGE.equals(data)) this.#revoked(stat.mzxid);
    } catch (error) {
      this.isArmed = false;
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      this.#change(true);
    }
  }

  #revoked(mzxid: number): void {
    if (this.#isStopped || mzxid === this.#revokedBy) return; // the same request, read again after a reconnect
    this.#revokedBy = mzxid;
    this.#owner?.nodeRevoked();
  }

  readonly #hear = (event: WatchEvent): void => {
    this.isArmed = false;
    this.#change(event.type === 'deleted');
  };

  #change(isGone: boolean): void {
    if (this.#isStopped) return;
    this.isGone ||= isGone;
    this.onChange();
  }
}
