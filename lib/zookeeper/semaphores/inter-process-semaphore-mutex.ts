import { runWithLease } from '../../core/internal/lease-handle.js';
import type { Lease } from '../../core/lease.js';
import type { AcquireOptions, LockIdentity, Mutex } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import type { ZooKeeperLease } from '../locks/zookeeper-lease.js';
import type { RecipeContext } from '../recipe-context.js';
import { InterProcessSemaphoreV2 } from './inter-process-semaphore-v2.js';

/**
 * A non-reentrant mutex, like Curator's class of the same name: a semaphore with one permit. A nested acquire waits for
 * itself until its `wait` is over.
 */
export class InterProcessSemaphoreMutex implements Mutex {
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  readonly identity: LockIdentity;
  readonly #semaphore: InterProcessSemaphoreV2;

  constructor(context: RecipeContext, settings: LockSettings) {
    const recipe = 'semaphoreMutex';
    this.#semaphore = new InterProcessSemaphoreV2(context, { ...settings, recipe, permits: 1 });
    this.key = settings.key;
    this.path = settings.path;
    this.identity = this.#semaphore.identity;
  }

  acquire(options: AcquireOptions = {}): Promise<ZooKeeperLease> {
    return this.#semaphore.acquire(options);
  }

  tryAcquire(options: AcquireOptions = {}): Promise<ZooKeeperLease | undefined> {
    return this.#semaphore.tryAcquire(options);
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /** Node paths of the holder and of the next waiter. Rejects with `ZooKeeperError` while the connection is down. */
  participants(): Promise<string[]> {
    return this.#semaphore.participants();
  }
}
