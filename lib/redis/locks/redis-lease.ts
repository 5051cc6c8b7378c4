import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import { LeaseHandle } from '../../core/internal/lease-handle.js';
import { isLease, LEASE_RANGE } from '../../core/internal/validation.js';
import type { AcquireOptions } from '../../core/lock.js';
import type { RedisHold } from './redis-hold.js';

/** Options of `acquire` and `using` on Redis. Times are in milliseconds. */
export interface RedisAcquireOptions extends AcquireOptions {
  /**
   * Length of a lease that is not renewed: a whole number from 100 ms to 2^31 - 1, and more than three round trips. The
   * lease is lost slightly before its end, unless it is extended.
   *
   * @default the client's `watchdogTimeout`, renewed for as long as the lock is held
   */
  readonly lease?: number | undefined;
  /**
   * Time after which the lease is lost even if it could be renewed, above 0: for work that may hang. The lock is free when
   * the lease has expired, or is released.
   *
   * @default without bound
   */
  readonly maxHold?: number | undefined;
  /**
   * Minimum lease of a lock that is renewed: a whole number.
   *
   * @internal
   */
  readonly minLease?: number | undefined;
}

/**
 * @param roundTrip in ms; a lease must leave time for three
 * @throws LockOptionsError
 */
export function validateLease(
  option: string,
  lease: unknown,
  context: LockErrorContext,
  roundTrip = 0,
): void {
  if (!isLease(lease)) throw new LockOptionsError(option, lease, LEASE_RANGE, context);
  if ((lease as number) < 3 * roundTrip)
    throw new LockOptionsError(
      option,
      lease,
      `more than three round trips to the server, which takes ${Math.ceil(roundTrip)} ms for one`,
      context,
    );
}

/** @throws LockOptionsError */
export function validateMaxHold(maxHold: number | undefined, context: LockErrorContext): void {
  if (maxHold !== undefined && !(Number.isFinite(maxHold) && maxHold > 0))
    throw new LockOptionsError('maxHold', maxHold, 'milliseconds above 0', context);
}

/** A lease on a lock of this backend. */
export class RedisLease extends LeaseHandle<RedisHold> {
  /** Id of the holder on the server: `<uuid of the client>:<number>`. */
  get holder(): string {
    return this.hold.backend.holder;
  }

  /** Ids of its permits, 32 hexadecimal digits each, as Redisson shows them; empty if it is not a semaphore. */
  get permitIds(): readonly string[] {
    const { kind, holders } = this.hold.backend;
    return kind === 'permits' ? holders : [];
  }

  /** Milliseconds until the lease is lost, unless it is renewed; 0 if it is not held. */
  remaining(): number {
    const { backend } = this.hold;
    return this.isHeld ? Math.max(0, backend.deadline - backend.now) : 0;
  }

  /**
   * Sets the lease to `lease` ms from now, longer or shorter than before. A lock that is renewed continues with that length.
   *
   * Rejects with `LockOptionsError` if `lease` is below 100 ms, with `LockNotHeldError` or `LockLostError` if the lock is not
   * held (any more), and with `LockConnectionError` if there is no answer within the `connectTimeout`: the shorter one counts then.
   */
  async extend(lease: number): Promise<void> {
    validateLease('lease', lease, this.hold.context);
    this.assertHeld();
    await this.hold.backend.extend(lease, this.hold);
    this.assertHeld();
  }
}
