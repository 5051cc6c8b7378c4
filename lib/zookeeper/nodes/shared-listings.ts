import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/**
 * The listings of one client, of which there is at most one under way for each directory: all who ask meanwhile share the
 * next one. A thousand nodes that are created in one turn are listed once, not a thousand times a thousand names.
 *
 * Invariant: the request goes out after the call, and behind the requests that were sent before the call. As requests are
 * answered in order, the answer shows the directory as of some time after them: a node created before is in it, unless it
 * was deleted. So it serves every caller as well as a listing of its own.
 */
export class SharedListings implements Pick<ZooKeeperConnection, 'getChildren'> {
  /** Not sent yet: may be joined. */
  readonly #next = new Map<string, Promise<string[]>>();
  /** Sent, and not answered: too early for a new caller. */
  readonly #underWay = new Map<string, Promise<string[]>>();

  constructor(private readonly connection: Pick<ZooKeeperConnection, 'getChildren'>) {}

  /** Sends in this turn if no listing is under way, and as soon as that one is answered otherwise. Settles as the request does. */
  getChildren(directory: string): Promise<string[]> {
    const next = this.#next.get(directory);
    if (next !== undefined) return next;
    const listing = this.#list(directory);
    this.#next.set(directory, listing);
    return listing;
  }

  async #list(directory: string): Promise<string[]> {
    await this.#underWay.get(directory)?.catch(() => {}); // or for the other callers of this turn
    this.#next.delete(directory);
    const listing = this.connection.getChildren(directory);
    this.#underWay.set(directory, listing);
    try {
      return await listing;
    } finally {
      if (this.#underWay.get(directory) === listing) this.#underWay.delete(directory);
    }
  }
}
