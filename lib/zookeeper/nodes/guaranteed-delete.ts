import type { Clock } from '../../core/clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { nextStateChange } from './node-requests.js';

/** Pause before a deletion that was refused is tried again, in ms; it doubles from the shortest to the longest. */
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 5_000;

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
 * Removes nodes, as Curator's `guaranteed()` deletes: over lost connections, lost replies and refusals, for as long as the
 * session that made them lives. When that has ended, the servers remove them; so the closing of the client is the end of those
 * that they do not let us remove.
 */
export class GuaranteedDelete {
  /** Those that the servers have not refused. */
  #underWay = 0;
  #tellDrained?: () => void;

  /** @param onRefused called once for each node whose deletion the servers refuse, e.g. for want of permission */
  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly clock: Clock,
    private readonly onRefused: (error: ZooKeeperError) => void,
  ) {}

  /**
   * Removes `node`, also when nobody knows yet whether it was made. The request goes out in this tick if the path is known.
   *
   * Resolves to true when the node is known to be gone; to false when there was none, or when it goes on in the background.
   */
  async remove(node: Removable): Promise<boolean> {
    this.#underWay += 1;
    const outcome = await this.#attempt(node);
    if (outcome instanceof ZooKeeperError) void this.#goOn(node, outcome);
    else this.#done();
    return outcome === 'gone';
  }

  /** Resolves when nothing is under way any more, in the background neither, but what the servers refuse. To be asked once. */
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
        await this.#sleep(pause);
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

  /** `over`: there is nothing to remove. */
  async #attempt(node: Removable): Promise<'gone' | 'over' | ZooKeeperError> {
    if (node.path === undefined) await node.settled?.();
    if (!node.mayExist || this.connection.state === 'CLOSED') return 'over';
    try {
      if (node.path === undefined) await node.locate?.();
      if (node.path !== undefined) await this.connection.delete(node.path);
      return 'gone';
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      return error.rc === ReturnCode.NONODE ? 'gone' : error;
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimer(resolve, ms, true));
  }
}
