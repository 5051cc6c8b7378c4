import { LockUpgradeError } from '../../core/errors/index.js';
import { beginAcquire } from '../../core/internal/acquire.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import type { Lease } from '../../core/lease.js';
import type { HandOff, Lock, LockIdentity, ReadWriteLock } from '../../core/lock.js';
import type { LockHolder } from '../../core/lock-holder.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import { readWriteForceUnlock } from '../scripts/index.js';
import { BaseLock } from './base-lock.js';
import { answerInTime, IdempotentRequests } from './idempotent-requests.js';
import { type LockCommands, waitersOf } from './lock-commands.js';
import { presentHolders } from './lock-holders.js';
import { readCommands, writeCommands } from './read-write-commands.js';
import type { SharedFencingToken } from './redis-grant.js';
import type { RedisHold } from './redis-hold.js';
import type { RedisAcquireOptions, RedisLease } from './redis-lease.js';

/** The shared half of a {@link RedisReadWriteLock}. */
export class RedisReadLock implements Lock {
  /**
   * @param base `BaseLock` of the read lock
   * @param shared `BaseLock` of the read lock for callers that may share a hold
   * @param writer `BaseLock` of the write lock
   * @param insideOf makes the `BaseLock` of the read lock for a caller inside of the held write lock
   */
  constructor(
    private readonly base: BaseLock,
    private readonly shared: BaseLock,
    private readonly writer: BaseLock,
    private readonly insideOf: (writer: RedisHold) => BaseLock,
  ) {}

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    return beginAcquire(
      () => this.base.reenter(options) ?? this.#ofCaller(options).acquire(options),
    );
  }

  tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    return beginAcquire(
      () => this.base.reenter(options) ?? this.#ofCaller(options).tryAcquire(options),
    );
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  #ofCaller({ lease, maxHold, minLease }: RedisAcquireOptions): BaseLock {
    const writer = this.writer.held();
    if (writer !== undefined) return this.insideOf(writer.backend);
    const hasOwnLease = (lease ?? maxHold ?? minLease) !== undefined;
    return hasOwnLease ? this.base : this.shared;
  }
}

/** The exclusive half of a {@link RedisReadWriteLock}. */
export class RedisWriteLock implements Lock {
  /**
   * @param base `BaseLock` of the write lock
   * @param reader `BaseLock` of the read lock
   */
  constructor(
    private readonly base: BaseLock,
    private readonly reader: BaseLock,
  ) {}

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  /** As `Lock.acquire`, but rejects with `LockUpgradeError` inside of the held read lock. */
  acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    return beginAcquire(() => this.#reenter(options) ?? this.base.acquire(options));
  }

  /** As `Lock.tryAcquire`, but rejects with `LockUpgradeError` inside of the held read lock. */
  tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    return beginAcquire(() => this.#reenter(options) ?? this.base.tryAcquire(options));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  #reenter(options: RedisAcquireOptions): RedisLease | undefined {
    const again = this.base.reenter(options);
    if (again === undefined && this.reader.held()) throw new LockUpgradeError(this.base.about);
    return again;
  }
}

/**
 * A reentrant read/write lock on Redis, wire-compatible with Redisson's `RReadWriteLock`. It is not fair: while there are
 * readers, further readers acquire it too, unless writers are preferred; Redisson's readers ignore that preference.
 */
export class RedisReadWriteLock implements ReadWriteLock {
  readonly #reader: BaseLock;
  readonly #writer: BaseLock;
  readonly #readLock: RedisReadLock;
  readonly #writeLock: RedisWriteLock;

  /**
   * @param preferWriters whether readers of this library wait for a waiting writer of this library
   * @param handOff bounds within which callers share the read lock
   */
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    readonly key: string,
    preferWriters: boolean,
    handOff?: HandOff,
  ) {
    const base = (
      recipe: 'readLock' | 'writeLock',
      commands: LockCommands,
      further?: { token?: SharedFencingToken; handOff?: HandOff },
    ) => new BaseLock(context, { key, recipe, commands, ...further });
    const ofReader = readCommands(context, name, preferWriters);
    this.#reader = base('readLock', ofReader);
    const shared = handOff && base('readLock', { ...ofReader, localQueue: 'shared' }, { handOff });
    this.#writer = base('writeLock', writeCommands(context, name, preferWriters));
    const insideOf = ({ field, token }: RedisHold) =>
      base('readLock', readCommands(context, name, preferWriters, String(field)), { token });
    this.#readLock = new RedisReadLock(
      this.#reader,
      shared ?? this.#reader,
      this.#writer,
      insideOf,
    );
    this.#writeLock = new RedisWriteLock(this.#writer, this.#reader);
  }

  readLock(): RedisReadLock {
    return this.#readLock;
  }

  writeLock(): RedisWriteLock {
    return this.#writeLock;
  }

  /** Resolves to the current holders. Rejects with `LockConnectionError` if there is no answer in time, and with `LockKeyError`. */
  holders(): Promise<LockHolder[]> {
    const { context, name } = this;
    return answerInTime(context, this.#reader.about, presentHolders(context, name));
  }

  /**
   * Removes all holders in that mode, with a writer also the readers inside of it, for operators; resolves to whether there were
   * any. Holders of this library learn of it at their next renewal.
   *
   * Rejects as ioredis does.
   */
  async forceUnlock(mode: 'read' | 'write'): Promise<boolean> {
    const { publishCommand } = this.context.connection;
    const { redisKey, readers, readWriteChannel } = this.name;
    const requests = new IdempotentRequests(this.context, this.name, this.#reader.about);
    const args = [publishCommand, readWriteChannel, mode, waitersOf(this.context, this.name)];
    const found = await requests.run(readWriteForceUnlock, [redisKey, readers], args);
    if (found === 1) this.#lose(mode);
    return found === 1;
  }

  /** Loses this client's holds in that mode: in `write`, those of the writer and of the readers inside of it. */
  #lose(mode: 'read' | 'write'): void {
    const why = 'it was unlocked by force';
    if (mode === 'read') return this.#reader.loseHold(why);
    this.#writer.loseHold(why);
    this.#reader.loseHold(why, ({ grant }) => grant.sharedToken !== undefined);
  }
}
