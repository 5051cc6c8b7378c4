import type { AcquireOptions } from './acquire-options.js';
import type { Lease } from './lease.js';
import type { LockIdentity } from './lock-identity.js';

/** Anything that can be held. */
export interface Lock {
  /** As the user gave it. */
  readonly key: string;
  readonly identity: LockIdentity;
  /**
   * Waits for the lock.
   *
   * Rejects with `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`, `LockConnectionError` (the retry policy
   * gave up, or the server refuses), `LockKeyError` (on the server it is something else) or `LockOptionsError`.
   */
  acquire(options?: AcquireOptions): Promise<Lease>;
  /**
   * One attempt that does not queue: a lease, or `undefined` when somebody else is ahead. Leaves nothing behind.
   *
   * A server that cannot be reached is waited for within `wait`, by default the client's `connectTimeout`. Rejects as
   * `acquire` does.
   */
  tryAcquire(options?: AcquireOptions): Promise<Lease | undefined>;
  /** Acquires, runs `fn` in the lease's scope, releases; settles as `fn` does. Rejects as `acquire` does before that. */
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T>;
}
