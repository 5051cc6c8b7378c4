import { LockUpgradeError } from '../../core/errors/index.js';
import type { Lease } from '../../core/lease.js';
import type { Lock, LockIdentity } from '../../core/lock.js';
import { useLease } from '../../core/internal/lease-handle.js';
import type { BaseLock } from './base-lock.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';
import type { RedisLease } from './redis-lease.js';

/** The exclusive half of a {@link RedisReadWriteLock}. */
export class RedisWriteLock implements Lock {
  /**
   * @param base its own
   * @param reader that of the other half
   */
  constructor(
    private readonly base: BaseLock,
    private readonly reader: BaseLock,
  ) {}

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  /** As `Lock.acquire`; rejects with `LockUpgradeError` inside of the held read lock. */
  async acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    return await (this.#reenter(options) ?? this.base.acquire(options));
  }

  /** As `Lock.tryAcquire`; rejects with `LockUpgradeError` inside of the held read lock. */
  async tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    return await (this.#reenter(options) ?? this.base.tryAcquire(options));
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return await useLease(await this.acquire(options), fn);
  }

  #reenter(options: RedisAcquireOptions): RedisLease | undefined {
    const again = this.base.reenter(options);
    if (again === undefined && this.reader.held()) throw new LockUpgradeError(this.base.about);
    return again;
  }
}
