import { randomUUID } from 'node:crypto';
import type { Session } from '../connection/session.js';
import { nodeName } from '../connection/znode-path.js';
import { CreateMode, type ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren } from './node-requests.js';
import { sortKey } from './queue-order.js';

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
  readonly #prefix = `_c_${randomUUID()}-`;
  #path?: string;
  #session?: Session;
  #creating?: Promise<string>;
  #isUncertain = false;

  /**
   * @param lockName what follows the UUID, e.g. `lock-`
   * @param digits its sequence number, in the ten digits of the name; default: the next of the directory
   */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly directory: string,
    private readonly lockName: string,
    private readonly data: Buffer,
    private readonly digits?: string,
  ) {}

  /** Full path, once it is known. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Whether it takes a number of the directory's counter. */
  get isSequential(): boolean {
    return this.digits === undefined;
  }

  /**
   * Whether the sequence number gives the order of creation. The servers count up to 2^31 - 1. From there on, newer servers
   * assign that number to every node, and older ones assign negative numbers, which sort ahead of earlier nodes.
   */
  get isInOrder(): boolean {
    return this.sequence >= 0 && this.sequence < LAST_SEQUENCE;
  }

  /** True if it is not known whether the last create was carried out. */
  get isUncertain(): boolean {
    return this.#isUncertain;
  }

  /** Whether there may be a node in a live session. False once the session has ended: the servers remove the node. */
  get mayExist(): boolean {
    return this.#session?.isAlive === true && (this.#path !== undefined || this.#isUncertain);
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
    this.#session = this.connection.session;
    this.#isUncertain = true;
    const path = `${this.directory}/${this.#prefix}${this.lockName}${this.digits ?? ''}`;
    const mode = this.isSequential ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
    this.#creating = this.connection.create(path, this.data, mode).then(
      (made) => {
        this.#isUncertain = false;
        return this.#found(made);
      },
      (error: unknown) => {
        this.#isUncertain = error instanceof ZooKeeperError && error.maybeDone;
        throw error;
      },
    );
    return this.#creating;
  }

  /**
   * Looks for the node after the answer to its create was lost, on a re-established connection; this settles what
   * was uncertain. Resolves to the children that were searched.
   */
  async locate(): Promise<string[]> {
    const children = await listChildren(this.connection, this.directory);
    const mine = children.find((name) => name.startsWith(this.#prefix));
    this.#isUncertain = false;
    if (mine !== undefined) this.#found(`${this.directory}/${mine}`);
    return children;
  }

  /** Resolves when no create is under way, however it ended. */
  async settled(): Promise<void> {
    await this.#creating?.catch(() => {});
  }

  #found(path: string): string {
    this.name = nodeName(path);
    this.sequence = Number(sortKey(this.name, this.lockName));
    return (this.#path = path);
  }
}
