import type { AcquireOptions } from '../../core/acquire-options.js';
import { LockAbortedError } from '../../core/errors/index.js';
import { HeldLease } from '../../core/held-lease.js';
import type { LockIdentity } from '../../core/hold.js';
import { LeaseChain } from '../../core/lease-chain.js';
import type { Lease } from '../../core/lease.js';
import type { Mutex } from '../../core/mutex.js';
import { useLease } from '../../core/use-lease.js';
import { validateAcquireOptions } from '../../core/validate-acquire-options.js';
import { childrenOf } from './children-of.js';
import { LockInternals } from './lock-internals.js';
import type { RecipeContext } from './recipe-context.js';
import { sortedChildren } from './sorted-children.js';
import { standardLockInternalsDriver } from './standard-lock-internals-driver.js';

/**
 * A fair, reentrant mutex on ZooKeeper, compatible on the wire with Curator's `InterProcessMutex` (the recipe "Locks" of
 * ZooKeeper): whoever queued first is served first, across processes and languages.
 *
 * An acquire re-enters, at once and without a request, when a live lease of the same lock of the same client is in the
 * async call tree above it; everybody else queues.
 */
export class InterProcessMutex implements Mutex {
  readonly #identity: LockIdentity;
  readonly #internals: LockInternals;

  /**
   * @param key as given by the user
   * @param path directory of the lock
   */
  constructor(
    private readonly context: RecipeContext,
    readonly key: string,
    readonly path: string,
  ) {
    this.#identity = { scope: context, id: `mutex:${path}` };
    this.#internals = new LockInternals(
      context,
      standardLockInternalsDriver,
      this.#identity,
      key,
      path,
    );
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const again = this.#reenter(options);
    if (again) return again;
    const { wait = this.context.wait, signal } = options;
    const hold = await this.#internals.acquire({ wait, signal }, true);
    return new HeldLease(hold!); // an attempt that may wait ends with a hold or an error
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    const again = this.#reenter(options);
    if (again) return again;
    const { wait = this.context.connectTimeout, signal } = options;
    const hold = await this.#internals.acquire({ wait, signal }, false);
    return hold && new HeldLease(hold);
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return useLease(await this.acquire(options), fn);
  }

  /**
   * Paths of all who hold or queue, in the order of service, the holder first; empty when nobody does. As in Curator, any
   * child of the directory counts.
   *
   * Rejects with `ZooKeeperError` while the connection is down.
   */
  async participants(): Promise<string[]> {
    const children = await childrenOf(this.context.connection, this.path);
    return sortedChildren(children, standardLockInternalsDriver.lockName).map(
      (name) => `${this.path}/${name}`,
    );
  }

  #reenter(options: AcquireOptions): Lease | undefined {
    const about = { key: this.key, client: this.context.client };
    validateAcquireOptions(options, about);
    const hold = LeaseChain.find(this.#identity);
    if (hold === undefined) return undefined;
    if (options.signal?.aborted)
      throw new LockAbortedError({ ...about, cause: options.signal.reason });
    return new HeldLease(hold);
  }
}
