import { randomUUID } from 'node:crypto';
import type { Session } from '../connection/session.js';
import { nodeName } from '../connection/znode-path.js';
import { CreateMode, type ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren } from './node-requests.js';
import { sortKey } from './queue-order.js';

const LAST_SEQUENCE = 2 ** 31 - 1;

/**
 * An ephemeral node, sequential unless its number is given, whose name carries a UUID, as Curator's "protected" creates: when
 * the answer to the create goes missing, the node is found again by its name.
 *
 * Invariant: at most one create is ever carried out. Another is sent only after the one before was refused, or was looked
 * for on a connection that has been in `sync` since and not found.
 */
export class ProtectedNode {
  /** Last component of the path; empty as long as that is not known. */
  name = '';
  /** The number that the directory's counter gave it; 0 as long as that is not known. */
  sequence = 0;
  readonly #prefix = `_c_${randomUUID()}-`;
  #path?: string;
  #session?: Session;
  #creating?: Promise<string>;
  #isUncertain = false;

  /**
   * @param lockName what follows the UUID, e.g. `lock-`
   * @param digits its number, in the ten digits of the name; default: the next of the directory
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

  /** Did it take a number of the directory's counter? */
  get isSequential(): boolean {
    return this.digits === undefined;
  }

  /**
   * Does the number tell who came first? The servers count up to 2^31 - 1. From there on newer ones give that number to
   * everybody, and older ones negative numbers, which sort ahead of those who came before.
   */
  get isInOrder(): boolean {
    return this.sequence >= 0 && this.sequence < LAST_SEQUENCE;
  }

  /** The last create may have been carried out, or not. */
  get isUncertain(): boolean {
    return this.#isUncertain;
  }

  /** May there be a node, and does it live? False once its session has ended: the servers take it away. */
  get mayExist(): boolean {
    return this.#session?.isAlive === true && (this.#path !== undefined || this.#isUncertain);
  }

  /** Was it, if at all, created in `session`? A node of an older session is about to vanish, and gives no right (CURATOR-604). */
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
   * Looks for the node after the answer to its create went missing, on a connection that was found again; that settles
   * what was uncertain. Resolves to the children it was looked for among.
   */
  async locate(): Promise<string[]> {
    const children = await listChildren(this.connection, this.directory);
    const mine = children.find((name) => name.startsWith(this.#prefix));
    this.#isUncertain = false;
    if (mine !== undefined) this.#found(`${this.directory}/${mine}`);
    return children;
  }

  /** Resolves when no create is under way any more, however it ended. */
  async settled(): Promise<void> {
    await this.#creating?.catch(() => {});
  }

  #found(path: string): string {
    this.name = nodeName(path);
    this.sequence = Number(sortKey(this.name, this.lockName));
    return (this.#path = path);
  }
}
