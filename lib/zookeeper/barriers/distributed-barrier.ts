import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { AcquireOptions } from '../../core/lock.js';
import { parentPath } from '../connection/znode-path.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import { deleteIfExists, waitForChange, untilConnected } from '../nodes/node-requests.js';
import { RetryLoop, retryUntilAnswered } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';

/**
 * Holds everybody up who waits at it, as long as it is set; compatible on the wire with Curator's class of that name. It
 * stays set when who has set it is gone.
 */
export class DistributedBarrier {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;

  constructor(
    private readonly context: RecipeContext,
    { key, path }: LockSettings,
  ) {
    this.key = key;
    this.path = path;
  }

  /**
   * Sets it; nothing happens where it is set already.
   *
   * Rejects with `LockConnectionError` when there is no answer within the client's `connectTimeout`: it may be set or not.
   * With `LockClientClosedError` when the client closes, with `ZooKeeperError` when the servers refuse.
   */
  async setBarrier(): Promise<void> {
    await retryUntilAnswered(this.context, this.key, () => this.#make());
  }

  /** Lets everybody through; nothing happens where it is not set. Rejects as `setBarrier` does. */
  async removeBarrier(): Promise<void> {
    const { connection } = this.context;
    await retryUntilAnswered(this.context, this.key, () => deleteIfExists(connection, this.path));
  }

  /**
   * Resolves when it is not set; over lost connections and sessions. One that was set by whomever before this call is seen.
   *
   * Curator's `waitOnBarrier` returns false when the time is over; this one rejects, as everything here that waits: with
   * `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`, and with `LockConnectionError` when the retry policy
   * gives up. With `LockOptionsError` for `wait` or `signal`.
   *
   * @param options `wait`: milliseconds, above 0 and finite, or `'forever'`; default: that of the client. `signal`: ends the
   *   wait
   */
  async waitOnBarrier(options: Pick<AcquireOptions, 'wait' | 'signal'> = {}): Promise<void> {
    const { context, key } = this;
    validateAcquireOptions(options, { key, client: context.client });
    const { wait = context.wait, signal } = options;
    await runWait(context, { key, options: { wait, signal } }, (scope) =>
      this.#untilRemoved(scope),
    );
  }

  async #untilRemoved(wait: WaitScope): Promise<void> {
    const { connection, client, retryPolicy } = this.context;
    const retry = new RetryLoop(retryPolicy, wait, { key: this.key, client });
    for (let isFresh = false; ;) {
      wait.throwIfEnded();
      await untilConnected(connection, wait);
      try {
        // Once: our server may not have heard yet of what others have set. After a reconnect the connection sees to that.
        if (!isFresh) await wait.until(connection.sync(this.path));
        isFresh = true;
        retry.answered();
        if (!(await waitForChange(connection, this.path, wait))) return;
      } catch (error) {
        await retry.after(error);
      }
    }
  }

  async #make(): Promise<void> {
    const { parents, nodeData } = this.context;
    for (let hasParent = true; ;) {
      try {
        if (!hasParent) await parents.make(parentPath(this.path));
        await parents.settle(this.path);
        await parents.create(this.path, nodeData);
        return;
      } catch (error) {
        if (ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) return;
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
        hasParent = false; // or collected meanwhile
      }
    }
  }
}
