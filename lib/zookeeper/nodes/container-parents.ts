import { LockConnectionError } from '../../core/errors/index.js';
import { parentPath } from '../connection/znode-path.js';
import {
  type AclEntry,
  CreateMode,
  type ZooKeeperConnection,
} from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './node-requests.js';

const EMPTY = Buffer.alloc(0);

const isUncertain = (error: unknown): boolean => error instanceof ZooKeeperError && error.maybeDone;

/**
 * Creates the persistent nodes, each with the access control list of the client: the directories of locks, which are
 * containers without data, as in Curator, from the lowest existing ancestor down; and the nodes of counters, values and
 * barriers. Existing nodes are left as they are. The servers collect a container some time after its last child is deleted.
 *
 * Invariant: while a node that we created is not known to carry the list, it is in `open`, and nothing is done in or below
 * it: the native driver sets a list only in a second request, and another client may set its own in between. A driver that
 * creates nodes with their list leaves `open` empty.
 */
export class ContainerParents {
  /** Nodes that we created and that are not known to carry the list: while there are any, call `settle` first. */
  readonly open = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param acl default: open to everyone, the servers' own default */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly client: string,
    private readonly acl?: readonly AclEntry[],
  ) {}

  /**
   * Sets the list on every node at or above `path` that we created and that may lack it.
   *
   * Rejects with `LockConnectionError` if another client has taken a node over, or with `ZooKeeperError`; may be called again.
   */
  async settle(path: string): Promise<void> {
    for (const open of this.#openAbove(path)) await this.#protect(open);
  }

  /**
   * Creates `directory` and its missing parents; concurrent calls share one run. Rejects as `settle` does; then call again.
   *
   * @param made receives each directory that is ours or, as the answer to its create was lost, may be; the first caller of a run has them
   */
  make(directory: string, made: string[] = []): Promise<void> {
    const there = this.#underWay.get(directory);
    if (there) return there;
    const making = this.#make(directory, made).finally(() => this.#underWay.delete(directory));
    this.#underWay.set(directory, making);
    return making;
  }

  /**
   * Deletes what was made for a node which was not created after all: the servers collect only directories that had a child, so of
   * those that are there the deepest is left to us. In the background, and across lost connections. Others that are about to use it
   * make it again, as if it had been collected. What others have made, or have written to, stays.
   *
   * @param made what calls of `make` have made, a parent before its child
   * @param making the last of them, which may be under way
   */
  async discard(made: readonly string[], making: Promise<void>): Promise<void> {
    await making.catch(() => {});
    for (const path of made.toReversed()) {
      if (this.open.has(path)) return; // another client may make it before ours is known to be gone
      if (!(await this.#isMissing(path))) return;
    }
  }

  /**
   * Creates a persistent node. Rejects as `connection.create` does; once the node is created, only with
   * `LockConnectionError`, if another client has taken it over.
   */
  async create(
    path: string,
    data: Buffer,
    mode: CreateMode = CreateMode.PERSISTENT,
  ): Promise<void> {
    const { acl, connection } = this;
    if (acl === undefined || connection.createsWithAcl)
      return void (await connection.create(path, data, mode, acl));
    this.open.add(path);
    try {
      await connection.create(path, data, mode);
    } catch (error) {
      const isRefused = error instanceof ZooKeeperError && !error.maybeDone;
      if (isRefused) this.open.delete(path);
      throw error;
    }
    try {
      await this.#protect(path);
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error; // else `settle` sets it before the next use
    }
  }

  async #make(directory: string, made: string[]): Promise<void> {
    await this.settle(directory);
    const missing: string[] = [];
    for (let path = directory; path !== '/'; path = parentPath(path)) {
      if (await this.connection.exists(path)) break;
      missing.unshift(path);
    }
    for (const path of missing) await this.#makeDirectory(path, made);
  }

  async #makeDirectory(path: string, made: string[]): Promise<void> {
    try {
      await this.create(path, EMPTY, CreateMode.CONTAINER);
      made.push(path);
    } catch (error) {
      if (isUncertain(error)) made.push(path);
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error; // else created by another client meanwhile
    }
    await this.settle(path);
  }

  /**
   * Deletes the directory if it is empty; resolves to whether there was none. With data in it, it is of others: the answer to our create
   * or to our deletion may have been lost, and a node with its first data has the version of ours.
   */
  async #isMissing(path: string): Promise<boolean> {
    const { connection } = this;
    while (connection.state !== 'CLOSED') {
      try {
        const { data } = await connection.getData(path);
        if (data.length === 0) await connection.delete(path, 0);
        return false;
      } catch (error) {
        const isLost = error instanceof ZooKeeperError && error.isConnectionLoss;
        if (!isLost) return ZooKeeperError.is(error, ReturnCode.NONODE); // else it has a child or data
      }
      if (!connection.isConnected) await nextStateChange(connection).changed;
    }
    return false;
  }

  #openAbove(path: string): string[] {
    return [...this.open].filter((open) => path === open || path.startsWith(`${open}/`));
  }

  /**
   * The node was created open, so NOAUTH comes from another client's list; or from ours, if an earlier answer was lost and
   * the list does not grant us ADMIN. The two cannot be distinguished.
   */
  async #protect(path: string): Promise<void> {
    try {
      await this.connection.setAcl(path, this.acl!);
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NOAUTH)) throw this.#takenOver(path, error);
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error; // else it has been collected
    }
    this.open.delete(path);
  }

  #takenOver(path: string, cause: Error): LockConnectionError {
    const { client } = this;
    return new LockConnectionError(
      `Lock client "${client}" has created the ZooKeeper node ${path}, but another client has set its access control list first. Find the clients that can reach the servers, delete the node, and create it beforehand with a list that grants you all permissions.`,
      { client, cause },
    );
  }
}
