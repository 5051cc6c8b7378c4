import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import { LeaseHandle } from '../../core/internal/lease-handle.js';
import type { AcquireOptions } from '../../core/lock.js';
import type { RedisHold } from './redis-hold.js';

/** Options of `acquire` and `using` on Redis. Times in milliseconds. */
export interface RedisAcquireOptions extends AcquireOptions {
  /**
   * Holds for so long and no longer: a whole number from 100 ms to 2^31 - 1, and more than three round trips. The lease is
   * lost a little before its end, unless it is extended.
   *
   * @default the client's `watchdogTimeout`, renewed for as long as the lock is held
   */
  readonly lease?: number;
  /**
   * Loses the lease after so much time, above 0, although it could be renewed: for work that may hang. The lock is free when
   * the lease has run out, or is released.
   *
   * @default without bound
   */
  readonly maxHold?: number;
  /**
   * The lease of a lock that is renewed is at least so long: a whole number.
   *
   * @internal
   */
  readonly minLease?: number;
}

/** The shortest lease, in ms. */
const SHORTEST = 100;
/** What the server takes. */
const LONGEST = 2 ** 31 - 1;

/**
 * @param roundTrip ms; a lease must leave time for three
 * @throws LockOptionsError
 */
export function validateLease(
  option: string,
  lease: unknown,
  context: LockErrorContext,
  roundTrip = 0,
): void {
  const isInRange =
    Number.isInteger(lease) && (lease as number) >= SHORTEST && (lease as number) <= LONGEST;
  if (!isInRange)
    throw new LockOptionsError(
      option,
      lease,
      `whole milliseconds from ${SHORTEST} to 2^31 - 1`,
      context,
    );
  if ((lease as number) < 3 * roundTrip)
    throw new LockOptionsError(
      option,
      lease,
      `more than three round trips to the server, which takes ${Math.ceil(roundTrip)} ms for one`,
      context,
    );
}

/** A lease on a lock of this backend. */
export class RedisLease extends LeaseHandle<RedisHold> {
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
