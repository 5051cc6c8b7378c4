import type { Session } from '../connection/session.js';
import { type Created, CreateMode, type WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import { afterTransient, listChildren } from './node-requests.js';

const LAST_SEQUENCE = 2 ** 31 - 1;
const nothing = () => {};

/**
 * An ephemeral node, sequential unless its number is given, with a UUID in its name, like Curator's "protected" creates: if
 * the answer to the create is lost, the node is found again by its name.
 *
 * Invariant: at most one create is ever carried out. Another is sent only after the previous one was rejected, or its node
 * was looked for on a connection that has been in `sync` since and was not found.
 */
export class ProtectedNode {
  /** Last component of the path; empty until it is known. */
  name = '';
  /** Sequence number, from the directory's counter; 0 until it is known. */
  sequence = 0;
  /** Full path, once it is known. */
  path: string | undefined;
  /** The transaction that created it; `undefined` unless the answer to the create had it. */
  czxid: number | undefined;
  /** True if it is not known whether the last create was carried out. */
  isUncertain = false;
  #prefix: string;
  #session?: Session;
  #creating?: Promise<string> | undefined;

  /**
   * @param lockName what follows the UUID, e.g. `lock-`
   * @param digits its sequence number, in the ten digits of the name; default: the next of the directory
   */
  constructor(
    private readonly context: Pick<RecipeContext, 'connection' | 'newId' | 'nodeAcl'>,
    private readonly directory: string,
    private readonly lockName: string,
    readonly data: Buffer,
    readonly digits?: string,
  ) {
    this.#prefix = `_c_${context.newId()}-`;
  }

  /**
   * Whether the sequence number gives the order of creation. The servers count up to 2^31 - 1. From there on, newer servers
   * assign that number to every node, and older ones assign negative numbers, which sort ahead of earlier nodes.
   */
  get isInOrder(): boolean {
    return this.sequence >= 0 && this.sequence < LAST_SEQUENCE;
  }

  /** Whether there may be a node in a live session. False once the session has ended: the servers remove the node. */
  get mayExist(): boolean {
    return this.#session?.isAlive === true && (this.path !== undefined || this.isUncertain);
  }

  /**
   * Whether it was created in `session`, or was not created yet. A node of an older session is about to vanish and gives no
   * right to the lock (CURATOR-604).
   */
  belongsTo(session: Session | undefined): boolean {
    return this.#session === undefined || this.#session === session;
  }

  /** Sends the create. */
  create(): Promise<string> {
    this.#session = this.context.connection.session;
    this.isUncertain = true;
    const path = `${this.directory}/${this.#prefix}${this.lockName}${this.digits ?? ''}`;
    const isSequential = this.digits === undefined;
    const mode = isSequential ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
    const { connection, nodeAcl } = this.context;
    this.#creating = connection.create(path, this.data, mode, nodeAcl).then(
      (made) => {
        this.#creating = undefined; // a waiter would keep it
        this.isUncertain = false;
        return this.#found(made);
      },
      (error: unknown) => {
        this.isUncertain = error instanceof ZooKeeperError && error.maybeDone;
        throw error;
      },
    );
    return this.#creating;
  }

  /**
   * Looks for the node after the answer to its create was lost, on a re-established connection; this settles what
   * was uncertain. Resolves to the children that were searched.
   *
   * No answer comes after a later create: one link answers in order, and rejects all that is under way when it breaks.
   */
  async locate(): Promise<string[]> {
    const children = await listChildren(this.context.connection, this.directory);
    const mine = children.find((name) => name.startsWith(this.#prefix));
    this.isUncertain = false;
    if (mine !== undefined) this.#found({ path: `${this.directory}/${mine}` });
    return children;
  }

  /** Resolves when no create is under way, however it ended. */
  async settled(): Promise<void> {
    await this.#creating?.catch(() => {});
  }

  /** Invariant: `czxid` is that of `path`, not of an earlier node. One that was found by its name has to be read for it. */
  #found({ path, czxid }: Created): string {
    this.czxid = czxid;
    this.name = path.slice(this.directory.length + 1);
    this.#prefix = this.name.slice(0, this.#prefix.length); // a new UUID is a tree of 16 strings, 500 bytes
    this.sequence = Number(this.name.slice(this.#prefix.length + this.lockName.length));
    return (this.path = path);
  }
}

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
