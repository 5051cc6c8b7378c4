import type { Clock } from '../../core/clock.js';
import { sleep } from '../../core/internal/timers.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './node-requests.js';

/** Pause before a rejected deletion is retried, in ms; it doubles from the shortest to the longest. */
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 5_000;

/** A node to remove, such as a `ProtectedNode`. */
interface Removable {
  readonly path: string | undefined;
  /** Whether there may be a node in a live session. */
  readonly mayExist: boolean;
  /** If the path may be unknown: resolves when no create is under way. */
  settled?(): Promise<void>;
  /** If the path may be unknown: looks the node up. */
  locate?(): Promise<unknown>;
}

/**
 * Removes nodes, like Curator's `guaranteed()` deletes: across lost connections, lost replies and rejections, as long as the
 * session that created them lives. When it ends, the servers remove the nodes; so closing the client also removes those that
 * the servers do not let us delete.
 */
export class GuaranteedDelete {
  /** Number of removals under way that the servers have not rejected. */
  #underWay = 0;
  #tellDrained?: () => void;

  /** @param onRefused called once for each node that the servers refuse to delete, e.g. for lack of permission */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly clock: Clock,
    private readonly onRefused: (error: ZooKeeperError) => void,
  ) {}

  /**
   * Removes `node`, even if it is not yet known whether it was created. The request goes out in this tick if the path is known.
   *
   * Resolves to true when the node is known to be deleted; to false if there was none, or if the removal continues in the
   * background.
   */
  async remove(node: Removable): Promise<boolean> {
    this.#underWay += 1;
    const outcome = await this.#attempt(node);
    if (outcome instanceof ZooKeeperError) void this.#goOn(node, outcome);
    else this.#done();
    return outcome === 'gone';
  }

  /** Resolves when no removal is under way, not even in the background, except rejected ones. To be called once. */
  drained(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#tellDrained = resolve));
  }

  async #goOn(node: Removable, failure: ZooKeeperError): Promise<void> {
    let outcome: unknown = failure;
    let wasRefused = false;
    for (let pause = SHORTEST_PAUSE; outcome instanceof ZooKeeperError;) {
      if (!outcome.isTransient && !wasRefused) {
        wasRefused = true;
        this.#done(); // `drained` must not wait for an operator
        this.onRefused(outcome);
      }
      if (!outcome.isConnectionLoss) {
        await sleep(this.clock, pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
      const { connection } = this;
      if (!connection.isConnected && node.mayExist) await nextStateChange(connection).changed;
      outcome = await this.#attempt(node);
    }
    if (!wasRefused) this.#done();
  }

  #done(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#tellDrained?.();
  }

  /** Resolves to `over` if there is nothing to remove. */
  async #attempt(node: Removable): Promise<'gone' | 'over' | ZooKeeperError> {
    if (node.path === undefined) await node.settled?.();
    if (!node.mayExist || this.connection.state === 'CLOSED') return 'over';
    try {
      if (node.path === undefined) await node.locate?.();
      if (node.path === undefined) return 'over'; // it was never created
      await this.connection.delete(node.path);
      return 'gone';
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      return error.rc === ReturnCode.NONODE ? 'gone' : error;
    }
  }
}
