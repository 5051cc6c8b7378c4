import type { Lease } from '../../core/lease.js';
import type { Lock } from '../../core/lock.js';
import type { LockIdentity } from '../../core/lock-identity.js';
import { useLease } from '../../core/use-lease.js';
import type { BaseLock } from './base-lock.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';
import type { RedisHold } from './redis-hold.js';
import type { RedisLease } from './redis-lease.js';

/** The shared half of a {@link RedisReadWriteLock}. */
export class RedisReadLock implements Lock {
  /**
   * @param base its own
   * @param writer that of the other half
   * @param insideOf its own for a caller who goes on inside of the held write lock
   */
  constructor(
    private readonly base: BaseLock,
    private readonly writer: BaseLock,
    private readonly insideOf: (writer: RedisHold) => BaseLock,
  ) {}

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  async acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    const again = this.base.reenter(options);
    if (again) return again;
    const writer = this.writer.held();
    if (writer === undefined) return this.base.acquire(options);
    return this.insideOf(writer.backend).acquire(options, true);
  }

  async tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    const again = this.base.reenter(options);
    if (again) return again;
    const writer = this.writer.held();
    if (writer === undefined) return this.base.tryAcquire(options);
    return this.insideOf(writer.backend).tryAcquire(options, true);
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return useLease(await this.acquire(options), fn);
  }
}
