import { HeldLease } from '../../core/internal/lease-handle.js';
import { validateLease } from './validate-lease.js';
import type { RedisHold } from './redis-hold.js';

/** A lease on a lock of this backend. */
export class RedisLease extends HeldLease<RedisHold> {
  /** Who holds, as the server knows it: `<uuid of the client>:<number>`. */
  get holder(): string {
    return this.hold.backend.holder;
  }

  /** Ids of its permits, 32 hexadecimal digits each, as Redisson shows them; none where it is no semaphore. */
  get permitIds(): readonly string[] {
    return this.hold.backend.permitIds;
  }

  /** Milliseconds until it is lost unless it is renewed; 0 when it is not held. */
  remaining(): number {
    const { backend } = this.hold;
    return this.isHeld ? Math.max(0, backend.deadline - backend.now) : 0;
  }

  /**
   * Sets the lease to `lease` ms from now, longer or shorter than it was. A lock that is renewed goes on with that length.
   *
   * Rejects with `LockOptionsError` when it is below 100 ms, with `LockNotHeldError` or `LockLostError` when the lock is not
   * held (any more), and as ioredis does when there is no answer.
   */
  async extend(lease: number): Promise<void> {
    validateLease('lease', lease, this.hold.context);
    this.assertHeld();
    await this.hold.backend.extend(lease);
    this.assertHeld();
  }
}
