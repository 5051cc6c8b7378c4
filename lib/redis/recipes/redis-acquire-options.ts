import type { AcquireOptions } from '../../core/lock.js';

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
