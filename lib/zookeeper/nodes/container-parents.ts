import { LockConnectionError } from '../../core/errors/index.js';
import { parentPath } from '../connection/znode-path.js';
import {
  type AclEntry,
  CreateMode,
  type ZooKeeperConnection,
} from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';

const EMPTY = Buffer.alloc(0);

/**
 * Makes the nodes that stay, each with the access control list of the client: the directories of locks, as Curator does, which
 * are containers without data, from the lowest missing one down; and what counters, values and barriers are kept in. What is
 * there is left as it is. The servers collect a container some time after its last child has gone.
 *
 * Invariant: while a node that we have made is not known to carry the list, it is in `#open`, and nothing is done in or below
 * it: the driver sets a list in a second request only, and another client may set its own in between.
 */
export class ContainerParents {
  readonly #open = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param acl default: open to everybody, the servers' own default */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly client: string,
    private readonly acl?: readonly AclEntry[],
  ) {}

  /** Does everything at or above `path` that we have made carry the list? Else `settle` it first. */
  isSettled(path: string): boolean {
    return this.#open.size === 0 || this.#openAbove(path).length === 0;
  }

  /**
   * Has everything at or above `path` carry the list that we have made.
   *
   * Rejects with `LockConnectionError` where somebody else has taken it over, with `ZooKeeperError`; may be called again.
   */
  async settle(path: string): Promise<void> {
    for (const open of this.#openAbove(path)) await this.#protect(open);
  }

  /** Makes `directory` and what is missing above it; many calls at once are one. Rejects as `settle` does; then call again. */
  make(directory: string): Promise<void> {
    const there = this.#underWay.get(directory);
    if (there) return there;
    const making = this.#make(directory).finally(() => this.#underWay.delete(directory));
    this.#underWay.set(directory, making);
    return making;
  }

  /**
   * Makes a node that stays. Rejects as `connection.create` does; when the node is made, only with `LockConnectionError`,
   * where somebody else has taken it over.
   */
  async create(
    path: string,
    data: Buffer,
    mode: CreateMode = CreateMode.PERSISTENT,
  ): Promise<void> {
    if (this.acl) this.#open.add(path);
    try {
      await this.connection.create(path, data, mode);
    } catch (error) {
      const isRefused = error instanceof ZooKeeperError && !error.maybeDone;
      if (isRefused) this.#open.delete(path);
      throw error;
    }
    if (this.acl === undefined) return;
    try {
      await this.#protect(path);
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error; // else `settle` sets it before the next use
    }
  }

  async #make(directory: string): Promise<void> {
    await this.settle(directory);
    const missing: string[] = [];
    for (let path = directory; path !== '/'; path = parentPath(path)) {
      if (await this.connection.exists(path)) break;
      missing.unshift(path);
    }
    for (const path of missing) await this.#makeDirectory(path);
  }

  async #makeDirectory(path: string): Promise<void> {
    try {
      await this.create(path, EMPTY, CreateMode.CONTAINER);
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error; // else made by somebody else meanwhile
    }
    await this.settle(path);
  }

  #openAbove(path: string): string[] {
    return [...this.#open].filter((open) => path === open || path.startsWith(`${open}/`));
  }

  /**
   * The node was created open, so NOAUTH comes from another client's list; or from ours, where an earlier answer was lost and
   * the list does not grant us ADMIN. The two cannot be distinguished.
   */
  async #protect(path: string): Promise<void> {
    try {
      await this.connection.setAcl(path, this.acl!);
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NOAUTH)) throw this.#takenOver(path, error);
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error; // else it has been collected
    }
    this.#open.delete(path);
  }

  #takenOver(path: string, cause: Error): LockConnectionError {
    const { client } = this;
    return new LockConnectionError(
      `Lock client "${client}" has made the ZooKeeper node ${path}, but somebody else has set its access control list first. Find out who can reach the servers, delete the node, and make it beforehand with a list that gives you all permissions.`,
      { client, cause },
    );
  }
}
