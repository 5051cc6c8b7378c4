import type { LeaderOptions } from './election/election-backend.js';
import type { LeaderLatch } from './election/leader-latch.js';
import type {
  LeaderSelector,
  LeaderSelectorOptions,
  TakeLeadership,
} from './election/leader-selector.js';
import type { LockEvents, LockSubject } from './lock-events.js';
import type { CountingSemaphore, Lock, Mutex, ReadWriteLock, SemaphoreOptions } from './lock.js';

/** How a lock client is. */
export interface LockClientStatus {
  /**
   * - `up`: it grants locks.
   * - `degraded`: the connection is interrupted, or the server refuses to lock anything for now, but what is held may still
   *   be; of several independent servers a minority is not connected.
   * - `down`: not connected yet, its locks are lost, too few servers are connected, or it is closed.
   */
  readonly health: 'up' | 'degraded' | 'down';
  /** State of the connection, for operators. */
  readonly state: string;
  /** Of ZooKeeper, where there is one. */
  readonly sessionId?: string;
  /** Of several independent Redis servers. */
  readonly servers?: { readonly connected: number; readonly total: number };
  /** Locks held and not lost; of each multi-lock its parts. A leader holds its election. */
  readonly held: number;
  /** Acquires under way; see `LockClient.activity`. Who stands for election and does not lead counts. */
  readonly waiting: number;
}

/**
 * What one acquire of a client is at: it is under way, or what it was granted is held.
 *
 * A multi-lock holds each of its parts; those that are taken together with one script are waited for as one, with its `key`.
 */
export interface LockActivity extends LockSubject {
  readonly state: 'waiting' | 'held';
  /** How long it has been so, in ms. */
  readonly forMs: number;
  /** Name of the lock on the servers; on ZooKeeper its path. Known once it is held. */
  readonly name?: string;
  /** Who holds, as the servers know it: on ZooKeeper the paths of its nodes, on Redis the ids of its holders. */
  readonly holders: readonly string[];
  /** On Redis, where it came with the grant or was asked for. */
  readonly fencingToken?: bigint;
}

/** One connection's worth of locks; injectable as `@InjectLockClient(name)`. */
export interface LockClient {
  /** The name it was registered under; `default` unless given. */
  readonly name: string;
  /**
   * The mutex of that key. Reentrant along the async call tree: see `Lease.run`.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   */
  mutex(key: string): Mutex;
  /**
   * A mutex that is not reentrant: a nested acquire waits like anybody else, so only with a `wait` does it end.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   */
  semaphoreMutex(key: string): Mutex;
  /**
   * The read/write lock of that key.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError when the backend has none, as that of several independent Redis servers
   */
  readWriteLock(key: string): ReadWriteLock;
  /**
   * The semaphore of that key.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError when `permits` is out of its range, or not what another object of that semaphore has, or
   *   when the backend has no semaphores, as that of several independent Redis servers
   */
  semaphore(key: string, options: SemaphoreOptions): CountingSemaphore;
  /**
   * All of those locks as one; they may belong to other clients too. The `wait` of this client is the bound of an acquire
   * that names none.
   *
   * @throws LockOptionsError: see `MultiLock`
   */
  multiLock(locks: readonly Lock[]): Lock;
  /**
   * Of all latches of that key, in all processes, one leads; call `start()` next. Each call makes another latch.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError
   */
  leaderLatch(key: string, options?: LeaderOptions): LeaderLatch;
  /**
   * Of all selectors of that key, in all processes, one at a time runs its `takeLeadership`; call `start()` next.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError
   */
  leaderSelector(
    key: string,
    takeLeadership: TakeLeadership,
    options?: LeaderSelectorOptions,
  ): LeaderSelector;
  /**
   * Checks the `lease` of acquires to come.
   *
   * @throws LockOptionsError when it is out of its range, or when the backend has no leases
   */
  validateLease(lease: number): void;
  /** Listens to what the locks of this client do; the returned function stops it. */
  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void;
  /** How it is now; asks no server. */
  status(): LockClientStatus;
  /**
   * What it holds and has not lost, then which acquires are under way, each the oldest first; asks no server.
   *
   * Count-down latches and plain semaphores have no owner: who waits for them is not told, nor counted by `status`.
   */
  activity(): LockActivity[];
  /**
   * Resolves to the milliseconds that the servers take to answer; of several independent ones, a majority.
   *
   * Rejects with `LockConnectionError` when that takes longer than `timeout` ms (above 0, default 1,000), with
   * `LockClientClosedError` when the client is or gets closed, with `LockOptionsError`.
   */
  ping(timeout?: number): Promise<number>;
  /**
   * Connects; resolves when the first lock could be taken. To be called once, before any lock is.
   *
   * Rejects with `LockConnectionError` when that takes longer than the client's `connectTimeout`, and with
   * `LockClientClosedError` when the client is or gets closed.
   */
  connect(): Promise<void>;
  /**
   * Grants nothing from now on: waiters and new acquires reject with `LockClientClosedError`. Held leases stay, and may
   * still be re-entered and downgraded, so that running work can finish.
   */
  refuse(): void;
  /**
   * Refuses, releases every lease, waits for the removals still under way, and closes the connection, unless that is the
   * user's. Ends within `timeout` milliseconds (default 5,000) whatever the server does. Idempotent.
   */
  close(timeout?: number): Promise<void>;
}
