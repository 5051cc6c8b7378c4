import type { Session } from '../connection/session.js';
import type { WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import { afterTransient } from './node-requests.js';

/** What is written into the node of a lock to ask its holder for it, as by Curator's `Revoker`. */
export const REVOKE_MESSAGE = Buffer.from('__REVOKE__');

/** Notified by the watch of a granted node. */
export interface NodeOwner {
  /** The node is gone, or will be before we could know. */
  nodeLost(why: string): void;
  /** Somebody asks for what the node stands for. */
  nodeRevoked(): void;
}

/**
 * Our own lock node, watched, so that a stranger who deletes it, or asks for it, is noticed: while it queues, and once it
 * was granted, until its session ends. From then on the watch is set again after every reconnect, so that a node that went
 * meanwhile is noticed then.
 *
 * The events of a session come in the order of their transactions: while this watch is armed, the loss of our own node is
 * told before that of any node deleted after it.
 */
export class OwnedNode {
  #isArmed = false;
  #isGone = false;
  #isStopped = false;
  #czxid?: bigint;
  /** The transaction that last asked for the lock. */
  #revokedBy = 0;
  #arming?: Promise<void>;
  #session?: Session;
  #owner?: NodeOwner;
  #keeping?: Promise<void>;
  #stopListening?: () => void;

  /** Called while it queues, when the node is gone (see `isGone`), or when the watch is no longer set. */
  onChange: () => void = () => {};

  constructor(
    private readonly context: Pick<RecipeContext, 'connection' | 'clock'>,
    readonly path: string,
  ) {}

  /** Set on the server, as far as we know. */
  get isArmed(): boolean {
    return this.#isArmed;
  }

  /** Deleted, and not by us. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Once granted: may it still give us the lock? Asked of the clock, not of an event that may come late. */
  get isExclusive(): boolean {
    return this.#session?.isAlive === true && !this.#isGone;
  }

  /** The transaction that created the node, once it was read: the fencing token. */
  get czxid(): bigint | undefined {
    return this.#czxid;
  }

  /**
   * Sets the watch, unless it is set, and reads `czxid`; sends at once. May be called again while it is under way.
   *
   * Rejects with `ZooKeeperError` where no answer came.
   */
  async arm(): Promise<void> {
    if (this.#isArmed || this.#isGone || this.#isStopped) return await this.#arming;
    this.#isArmed = true; // now: the event may come before the answer is dealt with
    this.#arming = this.#read().finally(() => (this.#arming = undefined));
    await this.#arming;
  }

  /** The node was granted, in that session: from now on `owner` hears of its loss, also of what was asked while it queued. */
  guard(session: Session, owner: NodeOwner): void {
    this.#session = session;
    this.#owner = owner;
    this.onChange = () => void this.keepWatching();
    if (this.#revokedBy > 0) owner.nodeRevoked();
    this.#stopListening = session.onEnd((why) => owner.nodeLost(`its session ended: ${why}`));
  }

  /** Arms the watch, over lost connections; resolves when it is set, or when the node is lost or given up. */
  keepWatching(): Promise<void> {
    if (this.#isGone) this.#owner?.nodeLost('somebody deleted its node');
    this.#keeping ??= this.#keepArmed().finally(() => (this.#keeping = undefined));
    return this.#keeping;
  }

  /** It is no longer ours to keep: we delete it ourselves, or its session has ended. What comes next is no loss. */
  stop(): void {
    this.#isStopped = true;
    this.context.connection.unwatch(this.path, this.#hear);
    this.#stopListening?.();
  }

  async #keepArmed(): Promise<void> {
    const isDone = () => this.#isArmed && this.#czxid !== undefined;
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
      this.#czxid = BigInt(stat.czxid);
      if (REVOKE_MESSAGE.equals(data)) this.#revoked(stat.mzxid);
    } catch (error) {
      this.#isArmed = false;
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      this.#change(true);
    }
  }

  #revoked(mzxid: number): void {
    if (this.#isStopped || mzxid === this.#revokedBy) return; // read again after a reconnect
    this.#revokedBy = mzxid;
    this.#owner?.nodeRevoked();
  }

  readonly #hear = (event: WatchEvent): void => {
    this.#isArmed = false;
    this.#change(event.type === 'deleted');
  };

  #change(isGone: boolean): void {
    if (this.#isStopped) return;
    this.#isGone ||= isGone;
    this.onChange();
  }
}
