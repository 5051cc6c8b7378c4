import type { Lease } from './lease.js';

/** Maximum wait: milliseconds, above 0 and finite, or without bound. */
export type Wait = number | 'forever';

/** Options of `acquire` and `using`. */
export interface AcquireOptions {
  /**
   * Bound on everything before the grant: connecting, queueing, every inner lock.
   * Milliseconds, above 0 and finite, or `'forever'`. Default: the client's `wait`, else `'forever'`.
   */
  readonly wait?: Wait | undefined;
  /** Ends the wait: the acquire rejects with `LockAbortedError`. No effect once the lock is held. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Name of the caller, for operators: shown with the holder if the backend stores it (Redis). The decorators set class
   * and method.
   */
  readonly method?: string | undefined;
}

/** Options of an acquire on a semaphore. */
export interface PermitOptions extends AcquireOptions {
  /**
   * Number of permits to acquire, all together or none: a whole number from 1 to the permits of the semaphore.
   *
   * @default 1
   */
  readonly permits?: number | undefined;
}

/** Options of a mutex. Every client that uses the key has to choose the same. */
export interface MutexOptions {
  /**
   * Whether waiters are served in the order of the queue, across processes. On ZooKeeper and embedded they always are. On Redis
   * it is Redisson's `RFairLock`: a waiter costs a command every third of the `watchdogTimeout`. Several independent Redis
   * servers have no queue, and refuse it.
   *
   * @default false
   */
  readonly fair?: boolean | undefined;
  /**
   * Whether the fencing token comes with the grant, as with Redisson's `RFencedLock`; otherwise it is fetched on first use. On
   * ZooKeeper, embedded and several independent Redis servers it makes no difference: every lease has a token.
   *
   * @default false
   */
  readonly fenced?: boolean | undefined;
  /**
   * Whether a release hands the lock on to the next caller of this client that waits for it, without asking the servers. Then 1,000
   * callers of one process cost about as many requests as one; other processes wait until the bounds are reached. Not with `fair`
   * or `fenced`, nor on several independent Redis servers. Clients of one key may choose differently.
   *
   * A lease whose token, extension, guarded write or revocation was asked for is released, not handed on: others may have seen
   * it. So is one with a `lease` or `minLease` of its own. (Lock cohorting: Dice, Marathe, Shavit.)
   *
   * @default the `handOff` of the client
   */
  readonly handOff?: HandOff | false | undefined;
}

/** Bounds within which a client may hand a lock on from one of its callers to the next, since the servers have granted it. */
export interface HandOff {
  /** How many times: a whole number from 1 to 2^31 - 1. */
  readonly atMost: number;
  /** For how many ms: a whole number from 1 to 2^31 - 1. The last caller that gets it may hold it for longer. */
  readonly for: number;
  /**
   * For how many ms, within those bounds, the client keeps a lock that is released while no caller waits, for its next caller: a
   * whole number from 1 to 2^31 - 1. A lock that one process takes again and again then costs no requests.
   *
   * It is given back as soon as another process is seen to wait for it: on ZooKeeper any other in the queue, on Redis a waiter of
   * this library, or one of Redisson that waited before. A later one of Redisson waits for up to `keep`. To the `tryAcquire` of others
   * it is taken. If this process crashes, it is taken until its session or lease ends. On Redis the lease of such a lock is a third
   * of the `watchdogTimeout`, or six times `keep` if that is more; it is kept for a sixth of the lease at most. (Lock caching: Gray,
   * Cheriton, "Leases".)
   *
   * @default none
   */
  readonly keep?: number | undefined;
}

/** Options of a read/write lock. */
export interface ReadWriteLockOptions {
  /**
   * Whether callers of this client that want the read lock while another one has it share that, without asking the servers: those
   * that come within the bounds, since the servers have granted it. 1,000 readers of one process then cost about as many requests
   * as one; writers that wait meanwhile wait until the last of them has released it. The write lock is not handed on.
   *
   * The servers see one holder, which the first caller has named. If it is lost, all of them lose it. Their fencing tokens are the
   * same; once one was asked for, or a guarded write, an extension or the revocation, later callers ask the servers. So do those
   * with a `lease` or `maxHold` of their own, and those inside of the write lock. (Reader-writer cohort locks: Calciu, Dice and
   * others.)
   *
   * @default the `handOff` of the client, without its `keep`
   */
  readonly handOff?: Omit<HandOff, 'keep'> | false | undefined;
}

/** Options of a semaphore. */
export interface SemaphoreOptions {
  /** Number of holders at a time: a whole number from 1 to 2^31 - 1, the same for all users of the semaphore. */
  readonly permits: number;
  /**
   * Whether waiters are served in the order of the queue, across processes. On ZooKeeper and embedded they always are. On Redis
   * those of Redisson, and of clients without the option, go ahead of them.
   *
   * @default false
   */
  readonly fair?: boolean | undefined;
}

/** Names of the recipes in this library. */
export type LockRecipe =
  | 'mutex'
  | 'readLock'
  | 'writeLock'
  | 'semaphore'
  | 'semaphoreMutex'
  | 'multiLock'
  | 'leaderLatch'
  | 'leaderSelector';

/** Scope of locks on servers that other clients may use as well. */
export interface LockScope {
  /** Ids of the servers as far as they are known now: a client that has one of them in common uses the same locks. */
  readonly serverIds?: () => readonly string[];
}

/** Identity of a lock: equal for all objects that represent the same lock of the same client. */
export interface LockIdentity {
  /** The client, or an object that represents it; a `LockScope` if it uses servers. */
  readonly scope: object;
  readonly recipe: LockRecipe;
  /** Name on the servers, the same in every process; on ZooKeeper the path. */
  readonly name: string;
  /** Name of the client: a multi-lock acquires locks of the same name in the order of their clients. */
  readonly client?: string | undefined;
}

/** A lock that can be acquired and held. */
export interface Lock {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly identity: LockIdentity;
  /**
   * Waits for the lock.
   *
   * Rejects with `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`, `LockConnectionError` (the retry policy
   * gave up, or the server rejects requests), `LockKeyError` (the server has something else under that key) or
   * `LockOptionsError`.
   */
  acquire(options?: AcquireOptions): Promise<Lease>;
  /**
   * Makes one attempt without queueing: resolves to a lease, or to `undefined` when another holder or waiter is ahead.
   * Leaves nothing behind.
   *
   * Waits for an unreachable server for up to `wait`, by default the client's `connectTimeout`. Rejects as `acquire` does.
   */
  tryAcquire(options?: AcquireOptions): Promise<Lease | undefined>;
  /** Acquires, runs `fn` in the lease's scope, then releases. Rejects as `acquire` does, otherwise settles as `fn` does. */
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T>;
}

/** One holder at a time. Whether nested acquires re-enter is up to the recipe. */
export interface Mutex extends Lock {}

/**
 * Many readers at a time, or one writer.
 *
 * Inside the held write lock the read lock is granted at once, and stays when the write lock is released: a downgrade.
 * The opposite, an upgrade, rejects with `LockUpgradeError`: the writer would wait for itself.
 */
export interface ReadWriteLock {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  /** The lock shared with other readers. */
  readLock(): Lock;
  /** The exclusive lock. */
  writeLock(): Lock;
}

/** A lock with a number of permits, each for one holder. Not reentrant: a nested acquire takes another permit. */
export interface CountingSemaphore extends Lock {
  /** As `Lock.acquire`; the lease covers all requested permits. */
  acquire(options?: PermitOptions): Promise<Lease>;
  tryAcquire(options?: PermitOptions): Promise<Lease | undefined>;
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: PermitOptions): Promise<T>;
  /** Number of permits neither held nor due to a waiter next. Out of date as soon as it is read. */
  availablePermits(): Promise<number>;
}

/** Whether both identify the same lock of the same client. */
export function isSameLock(a: LockIdentity, b: LockIdentity): boolean {
  return a.scope === b.scope && a.recipe === b.recipe && a.name === b.name;
}

/** Whether the recipe is an election, as opposed to a lock held for a while. */
export function isElection(recipe: LockRecipe): boolean {
  return recipe === 'leaderLatch' || recipe === 'leaderSelector';
}
