import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { listChildren } from '../nodes/node-requests.js';

/** A directory is listed only while it has at most so many children for each that a look may examine. */
const LISTED = 20;

/** What a look gets of a directory. */
interface DirectorySlice {
  /** Names of children. */
  readonly names: readonly string[];
  /** Number of children that no look examines, as there are too many to list. */
  readonly unlisted: number;
}

/**
 * Goes over the children of a directory in rounds, a bounded part at a time. ZooKeeper lists a directory only as a whole, so
 * there is one listing for each round, and none of a very large directory: it may have a million keys that were used lately.
 */
export class DirectoryScan {
  #left: string[] = [];

  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly directory: string,
  ) {}

  /**
   * The next children, or all of a round if there are fewer.
   *
   * @param most maximum number of names to return
   * @param scan option `scan` of the inspector; 0: none
   */
  async next(most: number, scan: number): Promise<DirectorySlice> {
    if (scan === 0 || most <= 0) return { names: [], unlisted: 0 };
    if (this.#left.length === 0) {
      const count = (await this.connection.exists(this.directory))?.numChildren ?? 0;
      if (count > LISTED * scan) return { names: [], unlisted: count };
      this.#left = await listChildren(this.connection, this.directory);
    }
    return { names: this.#left.splice(0, Math.min(most, scan)), unlisted: 0 };
  }
}
