import type { Clock } from '../core/clock.js';
import { acquireStatus, clientActivity } from '../core/internal/client-activity.js';
import { LockClientClosedError, LockKeyError } from '../core/errors/index.js';
import { ClientLifecycle, measurePing } from '../core/internal/client-lifecycle.js';
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
import { KeyUses, DeclaredPermits } from '../core/internal/key-uses.js';
import { PeerDeadlocks } from '../core/deadlocks/peer-deadlocks.js';
import { LOCK_INSPECTION, type LockInspection } from '../core/lock-inspection.js';
import type { MultiLock } from '../core/multi-lock.js';
import { validateOptionNames } from '../core/internal/option-names.js';
import { validateLockKey, validatePermits } from '../core/internal/validation.js';
import { connectToRedis } from './make-connection.js';
import { hashTag } from './connection/cluster-slots.js';
import { LockName } from './connection/lock-name.js';
import { RedisInspection } from './inspection/redis-inspection.js';
import {
  disconnect,
  makeRecipeContext,
  type RecipeContext,
  type RedisLockClientSettings,
} from './recipe-context.js';
import { BaseLock } from './locks/base-lock.js';
import { fairCommands, reentrantCommands, spinCommands } from './locks/mutex-commands.js';
import { RedisLock } from './locks/redis-lock.js';
import { permitCommands } from './semaphores/permit-commands.js';
import { RedisCountDownLatch } from './semaphores/redis-count-down-latch.js';
import { RedisOccurrenceMark } from './redis-occurrence-mark.js';
import { RedisElection } from './locks/redis-election.js';
import { RedisPermitExpirableSemaphore } from './semaphores/redis-permit-expirable-semaphore.js';
import { RedisReadWriteLock } from './locks/redis-read-write-lock.js';
import { RedisSemaphore } from './semaphores/redis-semaphore.js';
import { redisMultiLock } from './locks/redis-multi-lock.js';
import { validateLease, validateMaxHold } from './locks/redis-lease.js';
import type {
  RedisReadWriteLockOptions,
  RedisSemaphoreOptions,
  RedisSpinLockOptions,
} from './redis-options.js';

/** Locks on Redis. */
export class RedisLockClient implements LockClient {
  readonly name: string;
  readonly clock: Clock;
  /** @internal */
  readonly [LOCK_INSPECTION]: LockInspection;
  readonly #context: RecipeContext;
  readonly #kinds: KeyUses;
  readonly #permits: DeclaredPermits;
  readonly #lifecycle: ClientLifecycle;
  /** See `LockClient.limitWaits`. */
  readonly limitWaits = (wait: number): void => this.#lifecycle.limitWaits(wait);
  /** See `LockClient.refuse`. */
  readonly refuse = (): void => this.#lifecycle.refuse();
  /** See `LockClient.drain`. */
  readonly drain = (): Promise<void> => this.#lifecycle.drain();
  /** See `LockClient.unfinished`. */
  readonly unfinished = (): LockSubject[] => this.#lifecycle.unfinished();
  /** For `await using`: as `close`, but locks under which work still runs are kept until it ends. */
  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close(undefined, 'keep');

  constructor(private readonly settings: RedisLockClientSettings) {
    const { name, options } = settings;
    this.name = name;
    this.clock = settings.clock;
    this.#kinds = new KeyUses(name);
    this.#permits = new DeclaredPermits(name, 'none, and set them with `setPermits`');
    this.#context = makeRecipeContext(settings);
    this.#lifecycle = new ClientLifecycle(this.#context, {
      awoke: () => this.#context.renewal.renewAll(),
      drained: () => this.#context.releases.drained(),
      disconnect: () => disconnect(this.#context),
    });
    this[LOCK_INSPECTION] = new RedisInspection(this.#context, options.prefix ?? '');
    this.#context.deadlocks = new PeerDeadlocks(this.#context, this[LOCK_INSPECTION]);
  }

  mutex(key: string, options: MutexOptions = {}): RedisLock {
    return this.#mutex(key, 'mutex', options);
  }

  semaphoreMutex(key: string, options: Omit<MutexOptions, 'handOff'> = {}): RedisLock {
    return this.#mutex(key, 'semaphoreMutex', options);
  }

  readWriteLock(key: string, options: RedisReadWriteLockOptions = {}): RedisReadWriteLock {
    const { preferWriters = false } = options;
    const handOff = this.#context.waiters.sharingOf(key, options);
    const name = this.#name(key, 'read/write lock');
    return new RedisReadWriteLock(this.#context, name, key, preferWriters, handOff);
  }

  /**
   * The semaphore of that key, with leased permits; Redisson's `RPermitExpirableSemaphore`.
   *
   * @throws LockKeyError, LockOptionsError, also when another object of that semaphore has other `permits`
   */
  semaphore(key: string, options: RedisSemaphoreOptions = {}): RedisPermitExpirableSemaphore {
    validateOptionNames(options, ['permits', 'fair'], { key, client: this.name });
    const { permits, fair = false } = options;
    if (permits !== undefined) validatePermits(permits, { key, client: this.name });
    const name = this.#name(key, 'semaphore');
    if (permits !== undefined) this.#permits.claim(name.redisKey, permits, key);
    const commands = permitCommands(this.#context, name, permits, fair);
    const base = new BaseLock(this.#context, { key, recipe: 'semaphore', commands });
    return new RedisPermitExpirableSemaphore(this.#context, name, base, permits);
  }

  /**
   * The semaphore of that key with permits that have no owner, for sharing with Java; Redisson's `RSemaphore`.
   *
   * @throws LockKeyError
   */
  plainSemaphore(key: string): RedisSemaphore {
    return new RedisSemaphore(this.#context, this.#name(key, 'plain semaphore'), key);
  }

  /** The latch of that key. @throws LockKeyError */
  countDownLatch(key: string): RedisCountDownLatch {
    const name = this.#name(key, 'count-down latch', ({ latchChannel }) => latchChannel);
    return new RedisCountDownLatch(this.#context, name, key);
  }

  /**
   * A reentrant mutex that waiters poll instead of being woken: nothing is published, so many locks cost a cluster no
   * messages. Redisson's `RSpinLock`.
   *
   * @throws LockKeyError, LockOptionsError
   */
  spinLock(key: string, { backOff }: RedisSpinLockOptions = {}) {
    const name = this.#name(key, 'spin lock');
    const commands = spinCommands(this.#context, name, key, backOff);
    const base = new BaseLock(this.#context, { key, recipe: 'mutex', commands });
    return new RedisLock(this.#context, name, base, true);
  }

  /** As `LockClient.multiLock`; plain mutexes of this client, in a cluster those in one slot, are acquired by one script. */
  multiLock(locks: readonly Lock[]): MultiLock {
    return redisMultiLock(this.#context, locks);
  }

  leaderLatch(key: string, options: LeaderOptions = {}): LeaderLatch {
    return new LeaderLatch(this.#election(key, 'leaderLatch', options));
  }

  leaderSelector(
    key: string,
    takeLeadership: TakeLeadership,
    { autoRequeue = false, ...options }: LeaderSelectorOptions = {},
  ): LeaderSelector {
    const election = this.#election(key, 'leaderSelector', options);
    return new LeaderSelector(election, takeLeadership, autoRequeue);
  }

  occurrenceMark(key: string): RedisOccurrenceMark {
    validateLockKey(key, { client: this.name });
    const { prefix = '' } = this.settings.options;
    return new RedisOccurrenceMark(this.#context, new LockName(prefix + key), key);
  }

  validateLease(lease: number | undefined, maxHold?: number): void {
    const about = { client: this.name };
    if (lease !== undefined)
      validateLease('lease', lease, about, this.#context.connection.roundTrip);
    validateMaxHold(maxHold, about);
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  status(): LockClientStatus {
    return { ...this[LOCK_INSPECTION].health(), ...acquireStatus(this.#context) };
  }

  /** Number of calls that wait, for whatever it is. @internal */
  get pending(): number {
    return this.#context.waits.size;
  }

  activity(): LockActivity[] {
    return clientActivity(this.#context);
  }

  async ping(timeout = 1_000): Promise<number> {
    return await measurePing(this.#context, timeout, () => this.settings.connection.read('ping'));
  }

  async connect(): Promise<void> {
    const { client, accepts } = this.#context;
    if (accepts !== 'all') throw new LockClientClosedError({ client });
    await connectToRedis(this.settings, this.#context).catch(async (error: unknown) => {
      await this.close(0); // nothing would end the wait for the connection any more
      throw error;
    });
  }

  close(timeout = 5_000, unfinished: 'keep' | 'release' = 'release'): Promise<void> {
    return this.#lifecycle.close(timeout, unfinished);
  }

  #mutex(key: string, recipe: 'mutex' | 'semaphoreMutex', options: MutexOptions) {
    const { fair = false, fenced = false } = options;
    const kind = `${fair ? 'fair ' : ''}${recipe === 'mutex' ? '' : 'semaphore '}mutex`;
    const name = this.#name(key, kind);
    const commands = (fair ? fairCommands : reentrantCommands)(this.#context, name, fenced);
    const bounds = this.#context.waiters.handOffOf(key, options);
    const handOff = recipe === 'mutex' ? bounds : undefined;
    const base = new BaseLock(this.#context, { key, recipe, commands, isFenced: fenced, handOff });
    return new RedisLock(this.#context, name, base, recipe === 'mutex');
  }

  #election(key: string, recipe: 'leaderLatch' | 'leaderSelector', options: LeaderOptions) {
    const id = validateLeaderId(options, { key, client: this.name });
    const name = this.#name(key, recipe === 'leaderLatch' ? 'leader latch' : 'leader selector');
    const commands = reentrantCommands(this.#context, name, true);
    const base = new BaseLock(this.#context, { key, recipe, commands, isFenced: true });
    return new RedisElection(this.#context, new RedisLock(this.#context, name, base, false), id);
  }

  /** The names for the key, which is claimed for that kind of lock alone; `channelOf` returns the channel of its waiters. */
  #name(
    key: string,
    kind: string,
    channelOf = ({ channel }: LockName): string => channel,
  ): LockName {
    validateLockKey(key, { client: this.name });
    const { prefix = '' } = this.settings.options;
    const name = new LockName(prefix + key);
    if (this.settings.connection.isCluster && hashTag(name.redisKey) !== hashTag(channelOf(name)))
      throw new LockKeyError(
        key,
        'its braces would put the lock and what belongs to it in different slots of the cluster; leave them out, or make them a hash tag such as {order}:1',
        { client: this.name },
      );
    this.#kinds.claim(name.redisKey, kind, key, kind === 'mutex' ? undefined : name.twin);
    return name;
  }
}
