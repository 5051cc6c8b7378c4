import type { AclEntry } from '../connection/acl.js';
import { CreateMode } from '../connection/create-mode.js';
import { ReturnCode } from '../connection/return-code.js';
import { parentPath } from '../connection/znode-path.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';

const EMPTY = Buffer.alloc(0);

/**
 * Makes the directories of locks, as Curator does: containers without data, from the lowest missing one down, those that
 * are there left as they are. The servers collect a container some time after its last child has gone.
 */
export class LockParents {
  /**
   * Created by us, perhaps, and not yet known to carry the ACL: the driver can only set it in a second request, and
   * the connection may have been lost in between.
   */
  readonly #open = new Set<string>();

  readonly #underWay = new Map<string, Promise<void>>();

  /** @param acl of the directories made. Default: open to everybody, the servers' own default */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly acl?: readonly AclEntry[],
  ) {}

  /**
   * Makes `directory` and what is missing above it; many calls at once are one. Rejects with `ZooKeeperError`, also when
   * the servers collected a part of it meanwhile; may then be called again.
   */
  make(directory: string): Promise<void> {
    const there = this.#underWay.get(directory);
    if (there) return there;
    const making = this.#make(directory).finally(() => this.#underWay.delete(directory));
    this.#underWay.set(directory, making);
    return making;
  }

  async #make(directory: string): Promise<void> {
    for (const path of this.#open) await this.#protect(path);
    const missing: string[] = [];
    for (let path = directory; path !== '/'; path = parentPath(path)) {
      if (await this.connection.exists(path)) break;
      missing.unshift(path);
    }
    for (const path of missing) await this.#create(path);
  }

  async #create(path: string): Promise<void> {
    if (this.acl) this.#open.add(path);
    try {
      await this.connection.create(path, EMPTY, CreateMode.CONTAINER);
    } catch (error) {
      const isRefused = error instanceof ZooKeeperError && !error.maybeDone;
      if (isRefused) this.#open.delete(path);
      if (ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) return; // made by somebody else meanwhile
      throw error;
    }
    if (this.acl) await this.#protect(path);
  }

  async #protect(path: string): Promise<void> {
    try {
      await this.connection.setAcl(path, this.acl!);
    } catch (error) {
      const isCollected = ZooKeeperError.is(error, ReturnCode.NONODE);
      // We made it open to everybody: who refuses us now is the list that we have set without hearing the answer.
      const isProtected = ZooKeeperError.is(error, ReturnCode.NOAUTH);
      if (!isCollected && !isProtected) throw error;
    }
    this.#open.delete(path);
  }
}
