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
 * Blocks all waiters while it is set; wire-compatible with Curator's class of that name. It stays set when the client that
 * set it is gone.
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
   * Sets the barrier; does nothing if it is set already.
   *
   * Rejects with `LockConnectionError` when there is no answer within the client's `connectTimeout` (it may then be set or
   * not), with `LockClientClosedError` when the client closes, with `ZooKeeperError` when the servers reject the request.
   */
  async setBarrier(): Promise<void> {
    await retryUntilAnswered(this.context, this.key, () => this.#make());
  }

  /** Removes the barrier and lets all waiters through; does nothing if it is not set. Rejects as `setBarrier` does. */
  async removeBarrier(): Promise<void> {
    const { connection } = this.context;
    await retryUntilAnswered(this.context, this.key, () => deleteIfExists(connection, this.path));
  }

  /**
   * Resolves when the barrier is not set; continues after lost connections and sessions. A barrier that any client has set
   * before this call is seen.
   *
   * Curator's `waitOnBarrier` returns false on timeout; this one rejects, like every wait of this library: with
   * `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`, with `LockConnectionError` when the retry policy gives
   * up, and with `LockOptionsError` for an invalid `wait` or `signal`.
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
        // Only once: our server may not know yet what other clients have set. After a reconnect the connection syncs by itself.
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
        hasParent = false; // missing, or collected meanwhile
      }
    }
  }
}
