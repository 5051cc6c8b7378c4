import { LockLostError, LockUpgradeError } from '../../core/errors/index.js';
import type { Hold } from '../../core/internal/hold.js';
import { beginAcquire } from '../../core/internal/acquire.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Lease } from '../../core/lease.js';
import type {
  AcquireOptions,
  HandOff,
  Lock,
  LockIdentity,
  ReadWriteLock,
} from '../../core/lock.js';
import { nodeName } from '../connection/znode-path.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import type { AttemptPlan, PlanOf } from './lock-attempt.js';
import {
  downgradeDriver,
  READ_NAME,
  readLockDriver,
  readWriteSortKey,
  WRITE_NAME,
  writeLockDriver,
} from './lock-drivers.js';
import type { LockHold } from './lock-hold.js';
import { LockInternals } from './lock-internals.js';
import type { ZooKeeperLease } from './zookeeper-lease.js';

/** The shared half of an {@link InterProcessReadWriteLock}. */
export class InterProcessReadLock implements Lock {
  readonly key: string;
  readonly path: string;

  /**
   * @param internals those of this half
   * @param writer those of the other half
   */
  constructor(
    private readonly internals: LockInternals,
    private readonly writer: LockInternals,
  ) {
    this.key = internals.settings.key;
    this.path = internals.settings.path;
  }

  get identity(): LockIdentity {
    return this.internals.identity;
  }

  acquire(options: AcquireOptions = {}): Promise<ZooKeeperLease> {
    return beginAcquire(
      () => this.internals.reenter(options) ?? this.internals.acquire(options, this.#planOf()),
    );
  }

  tryAcquire(options: AcquireOptions = {}): Promise<ZooKeeperLease | undefined> {
    return beginAcquire(
      () => this.internals.reenter(options) ?? this.internals.tryAcquire(options, this.#planOf()),
    );
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /** Paths of the readers that hold or queue, in queue order. Rejects with `ZooKeeperError` while the connection is down. */
  participants(): Promise<string[]> {
    return this.internals.participants((name) => name.includes(READ_NAME));
  }

  #planOf(): PlanOf | undefined {
    const writer = this.writer.held();
    if (writer === undefined) return undefined;
    let isFirst = true;
    return async (wait) => {
      // The node of the writer was not found beside ours, which may be news of its loss that is not here yet.
      if (!isFirst) await wait.until(writer.backend.confirm());
      isFirst = false;
      return await this.#planInside(writer, wait);
    };
  }

  /**
   * The plan of a reader inside the held write lock `writer`: the reader uses the sequence number and the fencing token of
   * the writer; the token is smaller than those of the queued writers. If the write lock is lost or released before the
   * plan is made, the reader queues like any other. After that, only the presence of the writer's node beside the reader's
   * counts (see `downgradeDriver`).
   */
  async #planInside(writer: Hold<LockHold>, wait: WaitScope): Promise<AttemptPlan> {
    wait.throwIfEnded(); // before anything is sent
    const token = writer.isLive ? await wait.until(tokenOf(writer)) : undefined;
    if (token === undefined || !writer.isLive) return this.internals.newcomerPlan();
    const node = nodeName(writer.backend.paths[0]!);
    return { driver: downgradeDriver(node), digits: readWriteSortKey(node), token };
  }
}

/** Resolves to `undefined` if the lock is lost in the meantime. */
async function tokenOf(hold: Hold<LockHold>): Promise<bigint | undefined> {
  try {
    return await hold.fencingToken();
  } catch (error) {
    if (error instanceof LockLostError) return undefined;
    throw error;
  }
}

/** The exclusive half of an {@link InterProcessReadWriteLock}. */
export class InterProcessWriteLock implements Lock {
  readonly key: string;
  readonly path: string;

  /**
   * @param internals those of this half
   * @param reader those of the other half
   */
  constructor(
    private readonly internals: LockInternals,
    private readonly reader: LockInternals,
  ) {
    this.key = internals.settings.key;
    this.path = internals.settings.path;
  }

  get identity(): LockIdentity {
    return this.internals.identity;
  }

  /** Like `Lock.acquire`; rejects with `LockUpgradeError` inside the held read lock. */
  acquire(options: AcquireOptions = {}): Promise<ZooKeeperLease> {
    return beginAcquire(() => this.#reenter(options) ?? this.internals.acquire(options));
  }

  /** Like `Lock.tryAcquire`; rejects with `LockUpgradeError` inside the held read lock. */
  tryAcquire(options: AcquireOptions = {}): Promise<ZooKeeperLease | undefined> {
    return beginAcquire(() => this.#reenter(options) ?? this.internals.tryAcquire(options));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /** Paths of the writers that hold or queue, in queue order. Rejects with `ZooKeeperError` while the connection is down. */
  participants(): Promise<string[]> {
    return this.internals.participants((name) => name.includes(WRITE_NAME));
  }

  #reenter(options: AcquireOptions): ZooKeeperLease | undefined {
    const again = this.internals.reenter(options);
    if (again === undefined && this.reader.held())
      throw new LockUpgradeError({ key: this.key, client: this.internals.client });
    return again;
  }
}

/**
 * A fair, reentrant read/write lock on ZooKeeper, wire-compatible with Curator's class of the same name: readers and
 * writers share one queue, and a reader behind a waiting writer waits too.
 */
export class InterProcessReadWriteLock implements ReadWriteLock {
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  readonly #readLock: InterProcessReadLock;
  readonly #writeLock: InterProcessWriteLock;

  /** @param handOff bounds within which callers share the read lock */
  constructor(context: RecipeContext, settings: LockSettings, handOff?: HandOff) {
    this.key = settings.key;
    this.path = settings.path;
    const ofReader = { ...settings, handOff };
    const reader = new LockInternals(context, 'readLock', readLockDriver, ofReader);
    const writer = new LockInternals(context, 'writeLock', writeLockDriver, settings);
    this.#readLock = new InterProcessReadLock(reader, writer);
    this.#writeLock = new InterProcessWriteLock(writer, reader);
  }

  readLock(): InterProcessReadLock {
    return this.#readLock;
  }

  writeLock(): InterProcessWriteLock {
    return this.#writeLock;
  }
}
