/**
 * The right to be alone, until it is released or lost. A lease, not a thread or a process, owns the lock:
 * whoever has the handle may release it, from any async context.
 */
export interface Lease extends AsyncDisposable {
  /** Key of the lock, as given. */
  readonly key: string;
  /**
   * Aborts with a `LockLostError` when the lock may no longer be exclusive, before anybody else can be granted it as far
   * as the backend's rules allow. It stays silent on an ordinary release.
   */
  readonly signal: AbortSignal;
  /** False once released or lost. Asked of the clock at this very moment, so it holds over event-loop stalls too. */
  readonly isHeld: boolean;
  /**
   * A number that grows with every grant of this lock and fits 64 bits: give it to the protected store, and have that
   * refuse smaller ones. Costs a round trip the first time, unless it came with the grant. On Redis it is as lasting as the
   * server's data.
   *
   * Rejects with `LockNotHeldError` or `LockLostError` when the lease is not held, and as the driver does when there is no
   * answer.
   */
  fencingToken(): Promise<bigint>;
  /** Throws `LockLostError` or `LockNotHeldError` unless the lease is held. */
  assertHeld(): void;
  /**
   * Makes this lease the current scope of `fn`: acquires of the same lock inside re-enter it, and `currentLease()` is it.
   *
   * Rejects as `assertHeld` throws, before `fn` is called; otherwise it settles as `fn` does.
   */
  run<T>(fn: () => Promise<T> | T): Promise<T>;
  /**
   * Gives the lock back. Idempotent and never rejects: when the server cannot be reached, the removal goes on in the
   * background for as long as the session or the lease may live.
   */
  release(): Promise<void>;
}
