import { beginAcquire } from '../../core/internal/acquire.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import type { Lease } from '../../core/lease.js';
import type { AcquireOptions, LockIdentity, Mutex } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { standardLockInternalsDriver } from './lock-drivers.js';
import { LockInternals } from './lock-internals.js';
import type { ZooKeeperLease } from './zookeeper-lease.js';

/**
 * A fair, reentrant mutex on ZooKeeper, wire-compatible with Curator's `InterProcessMutex` (ZooKeeper's recipe "Locks"):
 * waiters are served in the order in which they queued, across processes and languages.
 *
 * An acquire re-enters, at once and without a request, when a live lease of the same lock of the same client is in the
 * async call tree above it; every other acquire queues.
 */
export class InterProcessMutex implements Mutex {
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  readonly #internals: LockInternals;

  constructor(context: RecipeContext, settings: LockSettings) {
    this.key = settings.key;
    this.path = settings.path;
    this.#internals = new LockInternals(context, 'mutex', standardLockInternalsDriver, settings);
  }

  get identity(): LockIdentity {
    return this.#internals.identity;
  }

  acquire(options: AcquireOptions = {}): Promise<ZooKeeperLease> {
    return beginAcquire(() => this.#internals.reenter(options) ?? this.#internals.acquire(options));
  }

  tryAcquire(options: AcquireOptions = {}): Promise<ZooKeeperLease | undefined> {
    return beginAcquire(
      () => this.#internals.reenter(options) ?? this.#internals.tryAcquire(options),
    );
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /**
   * Node paths of the holder and the waiters in the order of service, the holder first; empty if there are none. As in
   * Curator, any child of the directory counts.
   *
   * Rejects with `ZooKeeperError` while the connection is down.
   */
  participants(): Promise<string[]> {
    return this.#internals.participants();
  }
}
