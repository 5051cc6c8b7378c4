import { ReturnCode } from '../connection/return-code.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './next-state-change.js';

/** What it removes, such as a `ProtectedNode`. */
interface Removable {
  readonly path: string | undefined;
  /** May there be a node, and does it live? */
  readonly mayExist: boolean;
  /** Where the path may be unknown: resolves when no create is under way. */
  settled?(): Promise<void>;
  /** Where the path may be unknown: looks for it. */
  locate?(): Promise<unknown>;
}

/**
 * Removes nodes, as Curator's `guaranteed()` deletes: over lost connections and lost replies, for as long as the session
 * that made them lives. When that has ended, the servers remove them.
 */
export class GuaranteedDelete {
  #underWay = 0;
  #tellDrained?: () => void;

  /** @param onRefused the servers refused a deletion for good, e.g. for want of permission */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly onRefused: (error: ZooKeeperError) => void,
  ) {}

  /**
   * Removes `node`, also when nobody knows yet whether it was made. The request goes out in this tick if the path is known.
   *
   * Resolves to true when the node is known to be gone; to false when there was none, when the servers refuse, or when the
   * connection was lost on the way: then it goes on in the background.
   */
  async remove(node: Removable): Promise<boolean> {
    this.#underWay += 1;
    const outcome = await this.#attempt(node);
    if (outcome === 'unanswered') void this.#goOn(node);
    else this.#done();
    return outcome === 'gone';
  }

  /** Resolves when nothing is under way any more, in the background neither. To be asked once. */
  drained(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#tellDrained = resolve));
  }

  async #goOn(node: Removable): Promise<void> {
    do {
      if (!this.connection.isConnected) await nextStateChange(this.connection).changed;
    } while ((await this.#attempt(node)) === 'unanswered');
    this.#done();
  }

  #done(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#tellDrained?.();
  }

  /** `over`: there is nothing to remove, or nothing more that could be done. */
  async #attempt(node: Removable): Promise<'gone' | 'over' | 'unanswered'> {
    if (node.path === undefined) await node.settled?.();
    if (!node.mayExist || this.connection.state === 'CLOSED') return 'over';
    try {
      if (node.path === undefined) await node.locate?.();
      if (node.path !== undefined) await this.connection.delete(node.path);
      return 'gone';
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      if (error.isConnectionLoss) return 'unanswered';
      if (error.rc === ReturnCode.NONODE) return 'gone';
      this.onRefused(error);
      return 'over';
    }
  }
}
