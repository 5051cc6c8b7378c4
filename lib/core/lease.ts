/**
 * A write that a store carries out only if it still knows the holder of the lock, in the same step: see `Lease.guard`. Made by
 * `redisCommands`, `redisScript` and `zooKeeperOperations`.
 */
export interface GuardedWrite<R> {
  /** Where the lock has to be. The embedded backend counts as ZooKeeper. */
  readonly store: 'Redis' | 'ZooKeeper';
  /** Never set: it is there for the type of the result only. */
  readonly result?: R;
}

/**
 * The right to a lock, until it is released or lost. The lock is owned by the lease instead of a thread or a process:
 * any code with the handle may release it, from any async context.
 */
export interface Lease extends AsyncDisposable {
  /** Key of the lock, as given. */
  readonly key: string;
  /**
   * Aborts with a `LockLostError` when the lock may no longer be exclusive, before it can be granted to another holder, as
   * far as the backend's rules allow. It does not abort on an ordinary release. In its listeners `currentLease()` is this
   * lease as one that has ended, and nothing re-enters it.
   */
  readonly signal: AbortSignal;
  /** False once released or lost. Each read checks the clock, so it is correct after event-loop stalls too. */
  readonly isHeld: boolean;
  /**
   * The fencing token: a number that grows with every grant of this lock and fits 64 bits. Pass it to the protected store,
   * which should reject smaller ones. Costs a round trip the first time, unless it came with the grant. On Redis it is as
   * durable as the server's data.
   *
   * Rejects with `LockNotHeldError` or `LockLostError` when the lease is not held. When the server does not answer, it rejects with
   * `LockConnectionError` on Redis, after the `connectTimeout`, and with the driver's error on ZooKeeper.
   */
  fencingToken(): Promise<bigint>;
  /**
   * Writes to the store that has the lock, ZooKeeper or Redis, which carries the write out only if it still knows this holder:
   * both in one step, so that nothing can come in between. Resolves to the results.
   *
   * Rejects with `LockLostError` or `LockNotHeldError` if the lock is not held, and then nothing was written; with
   * `LockOptionsError` if the write is for another store, or the lock is on several; with the server's error if that refuses the
   * write itself; and with `LockConnectionError` if there is no answer, or only refusals, for the `connectTimeout`: its
   * message says whether it is unknown if it was carried out.
   *
   * Jepsen's analysis of etcd 3.4.3 has it as the lock that is safe; Curator's `CURATOR-689` asks for it.
   */
  guard<R>(write: GuardedWrite<R>): Promise<R>;
  /** Throws `LockLostError` or `LockNotHeldError` unless the lease is held. */
  assertHeld(): void;
  /**
   * Runs `fn` in the scope of this lease: acquires of the same lock inside re-enter it, and `currentLease()` returns it.
   *
   * Rejects with the error of `assertHeld`, before `fn` is called; otherwise it settles as `fn` does.
   */
  run<T>(fn: () => Promise<T> | T): Promise<T>;
  /**
   * Releases the lock. Idempotent and never rejects: when the server cannot be reached, the removal is retried in the
   * background for as long as the session or the lease may live.
   */
  release(): Promise<void>;
}
