import type { Clock } from '../../core/clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { inSlices } from './in-slices.js';

/** A caller that waits for a listing. */
interface Caller {
  readonly resolve: (children: string[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The listings of one client, of which there is at most one under way for each directory: all who ask meanwhile share the
 * next one. A thousand nodes that are created in one turn are listed once, not a thousand times a thousand names.
 *
 * Invariant: the request goes out after the call, and behind the requests that were sent before the call. As requests are
 * answered in order, the answer shows the directory as of some time after them: a node created before is in it, unless it
 * was deleted. So it serves every caller as well as a listing of its own.
 */
export class SharedListings implements Pick<ZooKeeperConnection, 'getChildren'> {
  /** Callers of the listings that are not sent yet. */
  readonly #next = new Map<string, Caller[]>();
  /** Sent, and not answered: too early for a new caller. */
  readonly #underWay = new Map<string, Promise<string[]>>();

  constructor(
    private readonly connection: Pick<ZooKeeperConnection, 'getChildren'>,
    private readonly clock: Clock,
  ) {}

  /** Sends in this turn if no listing is under way, and as soon as that one is answered otherwise. Settles as the request does. */
  getChildren(directory: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const callers = this.#next.get(directory);
      if (callers !== undefined) return void callers.push({ resolve, reject });
      this.#next.set(directory, [{ resolve, reject }]);
      void this.#list(directory);
    });
  }

  async #list(directory: string): Promise<void> {
    await this.#underWay.get(directory)?.catch(() => {}); // or for the other callers of this turn
    const callers = this.#next.get(directory)!;
    this.#next.delete(directory);
    const listing = this.connection.getChildren(directory);
    this.#underWay.set(directory, listing);
    const over = () => {
      if (this.#underWay.get(directory) === listing) this.#underWay.delete(directory);
    };
    try {
      const children = await listing.finally(over);
      inSlices(this.clock, callers, ({ resolve }) => resolve(children));
    } catch (error) {
      inSlices(this.clock, callers, ({ reject }) => reject(error));
    }
  }
}
