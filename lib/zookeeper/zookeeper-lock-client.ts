import type { Clock } from '../core/clock.js';
import { acquireStatus, clientActivity } from '../core/internal/client-activity.js';
import { validateLeaderId, type LeaderOptions } from '../core/election/election-backend.js';
import { LeaderLatch } from '../core/election/leader-latch.js';
import {
  LeaderSelector,
  type LeaderSelectorOptions,
  type TakeLeadership,
} from '../core/election/leader-selector.js';
import type { Lock, MutexOptions } from '../core/lock.js';
import type { LockActivity, LockClient, LockClientStatus } from '../core/lock-client.js';
import type { LockEvents, LockSubject } from '../core/lock-events.js';
import { PeerDeadlocks } from '../core/deadlocks/peer-deadlocks.js';
import { LOCK_INSPECTION, type LockInspection } from '../core/lock-inspection.js';
import { MultiLock } from '../core/multi-lock.js';
import { refuseLease, validatePermits } from '../core/internal/validation.js';
import { ClientLifecycle, measurePing } from '../core/internal/client-lifecycle.js';
import { connectToZooKeeper, disconnectFromZooKeeper } from './connect-to-zookeeper.js';
import { ZooKeeperInspection } from './inspection/zookeeper-inspection.js';
import { lockPath, type LockSettings, nodeData, type NodeOptions, PathUses } from './lock-path.js';
import {
  makeRecipeContext,
  type RecipeContext,
  type ZooKeeperLockClientSettings,
} from './recipe-context.js';
import type { AtomicOptions } from './atomic/atomic-options.js';
import { ZooKeeperOccurrenceMark } from './atomic/zookeeper-occurrence-mark.js';
import { attemptRevoke } from './locks/zookeeper-lease.js';
import {
  DistributedAtomicNumber,
  integerCodec,
  longCodec,
  type DistributedAtomicInteger,
  type DistributedAtomicLong,
} from './atomic/distributed-atomic-number.js';
import { DistributedBarrier } from './barriers/distributed-barrier.js';
import { DistributedDoubleBarrier } from './barriers/distributed-double-barrier.js';
import { InterProcessMutex } from './locks/inter-process-mutex.js';
import { InterProcessReadWriteLock } from './locks/inter-process-read-write-lock.js';
import { InterProcessSemaphoreMutex } from './semaphores/inter-process-semaphore-mutex.js';
import { InterProcessSemaphoreV2 } from './semaphores/inter-process-semaphore-v2.js';
import {
  leaderLatchDriver,
  type LockInternalsDriver,
  standardLockInternalsDriver,
} from './locks/lock-drivers.js';
import { LockInternals } from './locks/lock-internals.js';
import { untilAnswered } from './nodes/node-requests.js';
import { SharedCount } from './shared/shared-count.js';
import { SharedValue } from './shared/shared-value.js';
import { ZooKeeperElection } from './locks/zookeeper-election.js';
import type { ZooKeeperReadWriteOptions, ZooKeeperSemaphoreOptions } from './zookeeper-options.js';

/** Lock client on ZooKeeper, or on the embedded tree that behaves like it. */
export class ZooKeeperLockClient implements LockClient {
  readonly name: string;
  readonly clock: Clock;
  /** Throws `LockOptionsError` for every lease: on this backend the session expires instead. */
  readonly validateLease = (lease?: number, maxHold?: number): void =>
    refuseLease(lease, maxHold, this.name);
  /** @internal */
  readonly [LOCK_INSPECTION]: LockInspection;
  readonly #context: RecipeContext;
  readonly #kinds: PathUses;
  readonly #lifecycle: ClientLifecycle;
  /** See `LockClient.limitWaits`. */
  readonly limitWaits = (wait: number): void => this.#lifecycle.limitWaits(wait);
  /** See `LockClient.refuse`. */
  readonly refuse = (): void => this.#lifecycle.refuse();
  /** See `LockClient.drain`. */
  readonly drain = (): Promise<void> => this.#lifecycle.drain();
  /** See `LockClient.unfinished`. */
  readonly unfinished = (): LockSubject[] => this.#lifecycle.unfinished();
  /** See `LockClient.activity`. */
  readonly activity = (): LockActivity[] => clientActivity(this.#context);
  /** For `await using`: as `close`, but locks under which work still runs are kept until it ends. */
  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close(undefined, 'keep');

  constructor(private readonly settings: ZooKeeperLockClientSettings) {
    const { name, connection, events, clock, chroot = '', isLocal } = settings;
    this.name = name;
    this.clock = clock;
    this.#kinds = new PathUses(name);
    this.#context = makeRecipeContext(settings);
    this.#lifecycle = new ClientLifecycle(this.#context, {
      drained: () => this.#context.removals.drained(),
      disconnect: (ms) => disconnectFromZooKeeper(settings, ms),
    });
    this[LOCK_INSPECTION] = new ZooKeeperInspection(this.#context, chroot, settings);
    if (!isLocal) this.#context.deadlocks = new PeerDeadlocks(this.#context, this[LOCK_INSPECTION]);
    connection.onStateChange((state, reason) => events.emit('connection', { state, reason }));
  }

  /** Every mutex is fair, and every lease has a token: `fair` and `fenced` make no difference, but that they exclude `handOff`. */
  mutex(key: string, options: NodeOptions & MutexOptions = {}): InterProcessMutex {
    const handOff = this.#context.waiters.handOffOf(key, options);
    return new InterProcessMutex(this.#context, { ...this.#node(key, 'mutex', options), handOff });
  }

  readWriteLock(key: string, options: ZooKeeperReadWriteOptions = {}): InterProcessReadWriteLock {
    const handOff = this.#context.waiters.sharingOf(key, options);
    const settings = this.#node(key, 'read/write lock', options);
    return new InterProcessReadWriteLock(this.#context, settings, handOff);
  }

  semaphore(key: string, options: ZooKeeperSemaphoreOptions): InterProcessSemaphoreV2 {
    const permits = options?.permits;
    if (typeof permits !== 'object' || permits === null || !('onChange' in permits))
      validatePermits(permits, { key, client: this.name });
    const settings = this.#lock(key, options);
    this.#kinds.claimSemaphore(settings.path, 'semaphore', key, permits);
    return new InterProcessSemaphoreV2(this.#context, { ...settings, permits });
  }

  semaphoreMutex(key: string, options: NodeOptions = {}): InterProcessSemaphoreMutex {
    const settings = this.#lock(key, options);
    this.#kinds.claimSemaphore(settings.path, 'semaphore mutex', key, 1);
    return new InterProcessSemaphoreMutex(this.#context, settings);
  }

  multiLock(locks: readonly Lock[]): MultiLock {
    return new MultiLock(locks, this.#context);
  }

  leaderLatch(key: string, options: LeaderOptions = {}): LeaderLatch {
    return new LeaderLatch(this.#election(key, 'leaderLatch', leaderLatchDriver, options));
  }

  leaderSelector(
    key: string,
    takeLeadership: TakeLeadership,
    { autoRequeue = false, ...options }: LeaderSelectorOptions = {},
  ): LeaderSelector {
    const election = this.#election(key, 'leaderSelector', standardLockInternalsDriver, options);
    return new LeaderSelector(election, takeLeadership, autoRequeue);
  }

  occurrenceMark(key: string): ZooKeeperOccurrenceMark {
    return new ZooKeeperOccurrenceMark(this.#context, this.#lock(key, {}));
  }

  /**
   * Returns the shared number of `key`; call `start()` next.
   *
   * @param seed a 32-bit integer: the initial number if there is none yet
   * @throws LockKeyError, LockOptionsError
   */
  sharedCount(key: string, seed: number): SharedCount {
    return new SharedCount(this.#context, this.#node(key, 'shared count'), seed);
  }

  /** Returns the shared bytes of `key`, `seed` if there are none yet; call `start()` next. @throws LockKeyError, LockOptionsError */
  sharedValue(key: string, seed: Uint8Array): SharedValue {
    return new SharedValue(this.#context, this.#node(key, 'shared value'), seed);
  }

  /** Returns the 64-bit counter of `key`. @throws LockKeyError, LockOptionsError */
  atomicLong(key: string, options: AtomicOptions = {}): DistributedAtomicLong {
    const own = [longCodec, this.#context, this.#node(key, 'distributed atomic long')] as const;
    return new DistributedAtomicNumber(...own, options, (lock) => this.mutex(lock));
  }

  /** Returns the 32-bit counter of `key`, which may also be a shared count. @throws LockKeyError, LockOptionsError */
  atomicInteger(key: string, options: AtomicOptions = {}): DistributedAtomicInteger {
    const own = [integerCodec, this.#context, this.#node(key, 'shared count')] as const;
    return new DistributedAtomicNumber(...own, options, (lock) => this.mutex(lock));
  }

  /** Returns the barrier of `key`. @throws LockKeyError */
  barrier(key: string): DistributedBarrier {
    return new DistributedBarrier(this.#context, this.#node(key, 'barrier'));
  }

  /** Returns the double barrier of `key`, at which `memberQty` members have to arrive. @throws LockKeyError, LockOptionsError */
  doubleBarrier(key: string, memberQty: number): DistributedDoubleBarrier {
    const settings = this.#node(key, 'double barrier');
    return new DistributedDoubleBarrier(this.#context, settings, memberQty);
  }

  /**
   * Asks the owner of the queue node `participant` to release the lock, as Curator's `Revoker` does: the listeners of its
   * lease are called (see `ZooKeeperLease.makeRevocable`). Resolves to false when the node no longer exists.
   *
   * Rejects with `LockKeyError` when `participant` is not a path, with `LockConnectionError` when there is no answer within
   * `connectTimeout`, with `ZooKeeperError` when the servers reject the request.
   *
   * @param participant from `participants()` of a lock
   */
  revoke(participant: string): Promise<boolean> {
    return attemptRevoke(this.#context, participant);
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  status(): LockClientStatus {
    const { session } = this.settings.connection;
    const sessionId = session?.isAlive ? session.id : undefined;
    return { ...this[LOCK_INSPECTION].health(), ...acquireStatus(this.#context), sessionId };
  }

  /** Number of calls that wait, for whatever it is. @internal */
  get pending(): number {
    return this.#context.waits.size;
  }

  async ping(timeout = 1_000): Promise<number> {
    const { connection, chroot } = this.settings;
    const ask = () => untilAnswered(connection.exists(chroot || '/'));
    return await measurePing(this.#context, timeout, ask);
  }

  connect(): Promise<void> {
    return connectToZooKeeper(this.settings, this.#context, (timeout) => this.close(timeout));
  }

  close(timeout = 5_000, unfinished: 'keep' | 'release' = 'release'): Promise<void> {
    return this.#lifecycle.close(timeout, unfinished);
  }

  #election(
    key: string,
    recipe: 'leaderLatch' | 'leaderSelector',
    driver: LockInternalsDriver,
    options: LeaderOptions,
  ): ZooKeeperElection {
    const id = validateLeaderId(options, { key, client: this.name });
    const isUnnamed = recipe === 'leaderSelector' && id === ''; // default data, as in Curator
    // The node outlives an interrupted connection, whatever ends a leadership: see `ZooKeeperElection`.
    const settings = this.#lock(key, isUnnamed ? {} : { data: id }, 'session');
    const kind = recipe === 'leaderLatch' ? 'leader latch' : 'leader selector';
    this.#kinds.claim(settings.path, kind, key);
    const queue = new LockInternals(this.#context, recipe, driver, settings);
    return new ZooKeeperElection(this.#context, queue, id, options.errorPolicy);
  }

  #node(key: string, kind: string, options: NodeOptions = {}): LockSettings {
    const settings = this.#lock(key, options);
    this.#kinds.claim(settings.path, kind, key);
    return settings;
  }

  #lock(key: string, options: NodeOptions, errorPolicy = this.settings.errorPolicy): LockSettings {
    const path = this.#context.chroot + lockPath(this.settings, key, this.name);
    return { key, path, data: nodeData(options, { key, client: this.name }), errorPolicy };
  }
}
