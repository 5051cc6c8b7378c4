import type { Lease } from './lease.js';

/** How long to wait: milliseconds, above 0 and finite, or without bound. */
export type Wait = number | 'forever';

/** Options of `acquire` and `using`. */
export interface AcquireOptions {
  /**
   * Bound on everything that comes before the grant: connecting, queueing, every inner lock.
   * Milliseconds, above 0 and finite, or `'forever'`. Default: the client's `wait`, else `'forever'`.
   */
  readonly wait?: Wait;
  /** Ends the wait: it rejects with `LockAbortedError`. It has no effect once the lock is held. */
  readonly signal?: AbortSignal;
  /**
   * Who asks, for operators: shown with the holder where the backend keeps that (Redis). The decorators give class and
   * method.
   */
  readonly method?: string;
}

/** Options of an acquire on a semaphore. */
export interface PermitOptions extends AcquireOptions {
  /**
   * How many permits to take, all together or none: a whole number from 1 to what the semaphore has.
   *
   * @default 1
   */
  readonly permits?: number;
}

/** Options of a semaphore. */
export interface SemaphoreOptions {
  /** How many holders at a time: a whole number from 1 to 2^31 - 1, the same for everybody who uses the semaphore. */
  readonly permits: number;
}

/** The recipes, by their names in this library. */
export type LockRecipe =
  | 'mutex'
  | 'readLock'
  | 'writeLock'
  | 'semaphore'
  | 'semaphoreMutex'
  | 'multiLock'
  | 'leaderLatch'
  | 'leaderSelector';

/** Which lock this is: equal for all objects that stand for the same lock of the same client. */
export interface LockIdentity {
  /** The client, or what stands for it. */
  readonly scope: object;
  readonly recipe: LockRecipe;
  /** The name on the servers, the same in every process; on ZooKeeper the path. */
  readonly name: string;
  /** Name of the client: a multi-lock takes locks of one name in the order of their clients. */
  readonly client?: string;
}

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

/** One holder at a time. Whether nested acquires re-enter is up to the recipe. */
export interface Mutex extends Lock {}

/**
 * Many readers at a time, or one writer.
 *
 * Inside of the held write lock the read lock is granted at once, and stays when the write lock is released: a downgrade.
 * The other way round is refused with `LockUpgradeError`: the writer would wait for itself.
 */
export interface ReadWriteLock {
  /** As the user gave it. */
  readonly key: string;
  /** Shared with other readers. */
  readLock(): Lock;
  /** Alone. */
  writeLock(): Lock;
}

/** A number of permits: so many holders at a time. Not reentrant: a nested acquire takes another permit. */
export interface CountingSemaphore extends Lock {
  /** As `Lock.acquire`; the lease stands for all permits that were asked for. */
  acquire(options?: PermitOptions): Promise<Lease>;
  tryAcquire(options?: PermitOptions): Promise<Lease | undefined>;
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: PermitOptions): Promise<T>;
  /** How many permits nobody has, or waits to be given next. Out of date as soon as it is read. */
  availablePermits(): Promise<number>;
}

/** Do both stand for the same lock of the same client? */
export function isSameLock(a: LockIdentity, b: LockIdentity): boolean {
  return a.scope === b.scope && a.recipe === b.recipe && a.name === b.name;
}

/** Is it an election, and no lock that somebody wants for a while? */
export function isElection(recipe: LockRecipe): boolean {
  return recipe === 'leaderLatch' || recipe === 'leaderSelector';
}
