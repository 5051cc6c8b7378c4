import { ReturnCode } from '../connection/return-code.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './next-state-change.js';
import type { ProtectedNode } from './protected-node.js';

/**
 * Removes nodes, as Curator's `guaranteed()` deletes: over lost connections and lost replies, for as long as the session
 * that made them lives. When that has ended, the servers remove them.
 */
export class GuaranteedDelete {
  readonly #underWay = new Set<Promise<void>>();

  /** @param onRefused the servers refused a deletion for good, e.g. for want of permission */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly onRefused: (error: ZooKeeperError) => void,
  ) {}

  /**
   * Removes `node`, also when nobody knows yet whether it was made. The request goes out in this tick if the path is known.
   *
   * Resolves to true when the node is known to be gone; to false when the servers refuse, or when the connection was lost
   * on the way: then it goes on in the background.
   */
  remove(node: ProtectedNode): Promise<boolean> {
    return new Promise((resolve) => {
      const task = this.#remove(node, () => resolve(false)).then((isGone) => {
        this.#underWay.delete(task);
        resolve(isGone);
      });
      this.#underWay.add(task);
    });
  }

  /** Resolves when nothing is under way in the background any more. */
  async drained(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #remove(node: ProtectedNode, handOver: () => void): Promise<boolean> {
    if (node.path === undefined) await node.settled();
    while (node.mayExist && this.connection.state !== 'CLOSED') {
      try {
        if (node.path === undefined) await node.locate();
        if (node.path !== undefined) await this.connection.delete(node.path);
        return true;
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        if (error.rc === ReturnCode.NONODE) return true;
        if (!error.isConnectionLoss) {
          this.onRefused(error);
          return false;
        }
        handOver();
        if (!this.connection.isConnected) await nextStateChange(this.connection).changed;
      }
    }
    return false; // its session has ended, or there never was a node
  }
}
