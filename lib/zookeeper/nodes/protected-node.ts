import type { Session } from '../connection/session.js';
import { type Created, CreateMode } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import { listChildren } from './node-requests.js';
import { refusedBytes } from './retry-loop.js';

const LAST_SEQUENCE = 2 ** 31 - 1;

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
  /** Number of its creates during which the connection was lost. */
  #lostCreates = 0;
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
    private readonly data: Buffer,
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
        if (this.isUncertain) this.#lostCreates += 1;
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

  /** Length of its data, if the servers seem to hang up on that; else 0. */
  get refusedBytes(): number {
    return this.path === undefined ? refusedBytes(this.#lostCreates, this.data.length) : 0;
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
