import { ReturnCode } from '../connection/return-code.js';
import type { WatchEvent } from '../connection/watch-event.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { REVOKE_MESSAGE } from './revoke-message.js';

/**
 * Watches our own lock node, so that a stranger who deletes it, or asks for it, is noticed.
 *
 * The events of a session come in the order of their transactions: while this watch is armed, the loss of our own node is
 * told before that of any node deleted after it.
 */
export class NodeWatch {
  #isArmed = false;
  #isGone = false;
  #isStopped = false;
  #czxid?: bigint;
  /** The transaction that last asked for the lock. */
  #revokedBy = 0;
  #arming?: Promise<void>;

  /** Called when the node is gone (see `isGone`), or when the watch is no longer set and ought to be armed again. */
  onChange: () => void = () => {};

  /** Called when somebody has written the revoke message into the node; once for each time it was seen written. */
  onRevoked: () => void = () => {};

  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly path: string,
  ) {}

  /** Set on the server, as far as we know. */
  get isArmed(): boolean {
    return this.#isArmed;
  }

  /** Deleted, and not by us. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Has anybody asked for the lock, as far as the node was read? */
  get wasRevoked(): boolean {
    return this.#revokedBy > 0;
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

  async #read(): Promise<void> {
    try {
      const { data, stat } = await this.connection.getData(this.path, this.#hear);
      this.#czxid = BigInt(stat.czxid);
      if (REVOKE_MESSAGE.equals(data)) this.#revoked(stat.mzxid);
    } catch (error) {
      this.#isArmed = false;
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      this.#change(true);
    }
  }

  /** The node is no longer watched: we delete it ourselves, or its session has ended. */
  stop(): void {
    this.#isStopped = true;
    this.connection.unwatch(this.path, this.#hear);
  }

  #revoked(mzxid: number): void {
    if (this.#isStopped || mzxid === this.#revokedBy) return; // read again after a reconnect
    this.#revokedBy = mzxid;
    this.onRevoked();
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
