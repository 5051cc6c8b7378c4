import type { Lease } from '../../core/lease.js';
import type { Lock, LockIdentity } from '../../core/lock.js';
import { useLease } from '../../core/internal/lease-handle.js';
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
    const { base, isInside } = this.#ofCaller();
    return await (this.base.reenter(options) ?? base.acquire(options, isInside));
  }

  async tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    const { base, isInside } = this.#ofCaller();
    return await (this.base.reenter(options) ?? base.tryAcquire(options, isInside));
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return await useLease(await this.acquire(options), fn);
  }

  #ofCaller(): { readonly base: BaseLock; readonly isInside: boolean } {
    const writer = this.writer.held();
    const isInside = writer !== undefined;
    return { base: isInside ? this.insideOf(writer.backend) : this.base, isInside };
  }
}
