import type { AcquireOptions, Lock, LockIdentity } from '../../core/lock.js';
import { LockUpgradeError } from '../../core/errors/index.js';
import type { Lease } from '../../core/lease.js';
import { useLease } from '../../core/internal/lease-handle.js';
import type { LockInternals } from './lock-internals.js';
import { WRITE_NAME } from './lock-drivers.js';
import type { ZooKeeperLease } from './zookeeper-lease.js';

/** The exclusive half of an {@link InterProcessReadWriteLock}. */
export class InterProcessWriteLock implements Lock {
  readonly key: string;
  readonly path: string;

  /**
   * @param internals its own
   * @param reader those of the other half
   */
  constructor(
    private readonly internals: LockInternals,
    private readonly reader: LockInternals,
  ) {
    this.key = internals.settings.key;
    this.path = internals.settings.path;
  }

  get identity(): LockIdentity {
    return this.internals.identity;
  }

  /** As `Lock.acquire`; rejects with `LockUpgradeError` inside of the held read lock. */
  async acquire(options: AcquireOptions = {}): Promise<ZooKeeperLease> {
    return await (this.#reenter(options) ?? this.internals.acquire(options));
  }

  /** As `Lock.tryAcquire`; rejects with `LockUpgradeError` inside of the held read lock. */
  async tryAcquire(options: AcquireOptions = {}): Promise<ZooKeeperLease | undefined> {
    return await (this.#reenter(options) ?? this.internals.tryAcquire(options));
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return await useLease(await this.acquire(options), fn);
  }

  /** Paths of the writers who hold or queue, in their order. Rejects with `ZooKeeperError` while the connection is down. */
  participants(): Promise<string[]> {
    return this.internals.participants((name) => name.includes(WRITE_NAME));
  }

  #reenter(options: AcquireOptions): ZooKeeperLease | undefined {
    const again = this.internals.reenter(options);
    if (again === undefined && this.reader.held())
      throw new LockUpgradeError({ key: this.key, client: this.internals.client });
    return again;
  }
}
