import type { Clock } from './clock.js';
import type { EventLoopStall } from './errors/index.js';
import type { LeaderOptions } from './election/election-backend.js';
import type { LeaderLatch } from './election/leader-latch.js';
import type {
  LeaderSelector,
  LeaderSelectorOptions,
  TakeLeadership,
} from './election/leader-selector.js';
import type { LockEvents, LockSubject } from './lock-events.js';
import type { OccurrenceMark } from './occurrence-mark.js';
import type {
  CountingSemaphore,
  Lock,
  Mutex,
  MutexOptions,
  ReadWriteLock,
  ReadWriteLockOptions,
  SemaphoreOptions,
} from './lock.js';

/** Status of a lock client. */
export interface LockClientStatus {
  /**
   * - `up`: the client grants locks.
   * - `degraded`: the connection is interrupted, or the server rejects all locking for now, but held locks may still be
   *   held; with several independent servers, a minority is not connected.
   * - `down`: the client is not connected yet, its locks are lost, too few servers are connected, or it is closed.
   */
  readonly health: 'up' | 'degraded' | 'down';
  /** State of the connection, for operators. */
  readonly state: string;
  /** ZooKeeper session id, if there is a session. */
  readonly sessionId?: string | undefined;
  /** Connected and configured servers, with several independent Redis servers. */
  readonly servers?: { readonly connected: number; readonly total: number } | undefined;
  /** Number of locks held and not lost; a multi-lock counts as its parts. A leader holds its election. */
  readonly held: number;
  /** Number of locks that no caller holds, kept for the next one, if there are any: see `HandOff.keep`. */
  readonly kept?: number | undefined;
  /** Number of those held that the servers have not confirmed for long, if there are any: see `LockEvents.endangered`. */
  readonly endangered?: number | undefined;
  /** The longest stall of the event loop of 2 s or more that was seen in the last minute, while a lock was held in this process. */
  readonly stall?: EventLoopStall | undefined;
  /** Number of acquires under way; see `LockClient.activity`. Participants of an election that do not lead count too. */
  readonly waiting: number;
}

/**
 * State of one acquire of a client: it is under way, or it was granted and the lock is held.
 *
 * Each part of a multi-lock is held on its own; parts acquired together by one script wait as one, under the multi-lock's
 * `key`.
 */
export interface LockActivity extends LockSubject {
  readonly state: 'waiting' | 'held';
  /** Time in this state, in ms. */
  readonly forMs: number;
  /** Name of the lock on the servers; on ZooKeeper its path. Known once the lock is held. */
  readonly name?: string | undefined;
  /** Server-side ids of the holders: node paths on ZooKeeper, holder ids on Redis. */
  readonly holders: readonly string[];
  /** Fencing token on Redis, if it came with the grant or was requested. */
  readonly fencingToken?: bigint | undefined;
  /** How often the lock was handed on from caller to caller, if it was; see `MutexOptions.handOff`. */
  readonly handOffs?: number | undefined;
}

/** The locks of one connection; injectable as `@InjectLockClient(name)`. */
export interface LockClient {
  /** Name under which the client was registered; `default` unless given. */
  readonly name: string;
  /**
   * Monotonic clock of its waits.
   *
   * @default the clock of the machine
   */
  readonly clock?: Clock | undefined;
  /**
   * The mutex of this key. Reentrant along the async call tree: see `Lease.run`.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError when the backend cannot be `fair`, or hand the lock on
   */
  mutex(key: string, options?: MutexOptions): Mutex;
  /**
   * A mutex that is not reentrant: a nested acquire waits like any other acquire, so it ends only with a `wait`.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   */
  semaphoreMutex(key: string): Mutex;
  /**
   * The read/write lock of this key.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError when the backend has no read/write locks, such as several independent Redis servers
   */
  readWriteLock(key: string, options?: ReadWriteLockOptions): ReadWriteLock;
  /**
   * The semaphore of this key.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError when `permits` is out of range or differs from another object of the same semaphore, or
   *   when the backend has no semaphores, such as several independent Redis servers
   */
  semaphore(key: string, options: SemaphoreOptions): CountingSemaphore;
  /**
   * Combines the locks into one; they may belong to other clients too. The `wait` of this client bounds an acquire that
   * gives none.
   *
   * @throws LockOptionsError: see `MultiLock`
   */
  multiLock(locks: readonly Lock[]): Lock;
  /**
   * Creates a latch: one of all latches of this key, in all processes, leads. Call `start()` next. Each call creates another.
   *
   * @throws LockKeyError when the key cannot name a lock, or names one of another kind
   * @throws LockOptionsError
   */
  leaderLatch(key: string, options?: LeaderOptions): LeaderLatch;
  /**
   * Creates a selector: of all selectors of this key, in all processes, one at a time runs its `takeLeadership`. Call
   * `start()` next.
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
   * The mark of the job with this key, which records the occurrences of the job that were begun; for `@RunOnce`. The key may also
   * be that of a lock.
   *
   * Optional: a client without it cannot remember occurrences.
   *
   * @throws LockKeyError
   */
  occurrenceMark?(key: string): OccurrenceMark;
  /**
   * Validates a `lease` and a `maxHold` for later acquires.
   *
   * @throws LockOptionsError when one is out of range, or when the backend does not have it
   */
  validateLease(lease: number | undefined, maxHold?: number): void;
  /** Adds a listener for the lock events of this client; the returned function removes it. */
  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void;
  /** Current status; sends no request. */
  status(): LockClientStatus;
  /**
   * Locks held and not lost, then acquires under way, each the oldest first; sends no request. Its time and memory grow with
   * their number: do not call it often in a process that holds very many.
   *
   * Count-down latches and plain semaphores have no owner: their waiters are neither listed nor counted by `status`.
   */
  activity(): LockActivity[];
  /**
   * Resolves to the response time of the servers in ms; with several independent servers, of a majority.
   *
   * Rejects with `LockConnectionError` when that takes longer than `timeout` ms (above 0, default 1,000), with
   * `LockClientClosedError` when the client is or gets closed, and with `LockOptionsError`.
   */
  ping(timeout?: number): Promise<number>;
  /**
   * Connects; resolves when the client can acquire locks. Call it once, before the first acquire.
   *
   * Rejects with `LockConnectionError` when that takes longer than the client's `connectTimeout`, and with
   * `LockClientClosedError` when the client is or gets closed. The client is closed when that rejects: create another one. Not to wait for a
   * reconnect, which comes by itself.
   */
  connect(): Promise<void>;
  /**
   * Announces the end of the app: locks are granted as before, but acquires without a bound on their wait get one, so that no
   * caller is waited for in vain. Such an acquire rejects with `LockClientClosedError` when it waits for longer than `wait` ms,
   * counted from its start or from this call, whichever is later.
   */
  limitWaits(wait: number): void;
  /**
   * Takes no new callers: waiters and acquires reject with `LockClientClosedError`, except for those inside a held lock, of any
   * client: they are served as before, so that running work can finish. Held leases stay.
   */
  refuse(): void;
  /**
   * As `refuse`, and leaves all elections. Resolves when no work runs under a lock any more: no decorated method, `using` or
   * `run`, except for the one that calls this. A lease that is just held is not waited for.
   */
  drain(): Promise<void>;
  /** Locks for which `drain` waits; a multi-lock is listed as its parts. */
  unfinished(): LockSubject[];
  /**
   * Grants no locks any more, releases every lease, waits for the removals still under way, and closes the connection unless
   * the user supplied it. Ends within `timeout` milliseconds (default 5,000) whatever the server does. Idempotent.
   *
   * @param unfinished what happens to locks under which work still runs, see `drain`. With `'release'`, others may be granted
   *   them at once. With `'keep'`, the signals of their leases abort too, but others are kept out until the work ends; the
   *   connection is closed only then, in the background. If the process ends before, such a lock stays for the rest of its
   *   lease or session. Default: `'release'`
   */
  close(timeout?: number, unfinished?: 'keep' | 'release'): Promise<void>;
}
