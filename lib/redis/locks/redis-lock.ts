import { beginAcquire } from '../../core/internal/acquire.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import type { Lease } from '../../core/lease.js';
import type { LockIdentity, Mutex } from '../../core/lock.js';
import type { LockHolder } from '../../core/lock-holder.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import { lockForceUnlock } from '../scripts/index.js';
import type { BaseLock } from './base-lock.js';
import { answerInTime, IdempotentRequests } from './idempotent-requests.js';
import { presentHolders } from './lock-holders.js';
import { waitersOf } from './lock-commands.js';
import type { RedisAcquireOptions, RedisLease } from './redis-lease.js';

/**
 * A mutex on Redis, wire-compatible with Redisson's `RLock`; with the option `fair`, with its `RFairLock`; with `fenced`,
 * with its `RFencedLock`.
 *
 * It expires on the server after its lease, which is renewed for as long as the lock is held: so it is exclusive as far as
 * the clocks, and a failover that forgets it, allow. The lease reports its end before that, by the clock of this process.
 */
export class RedisLock implements Mutex {
  /**
   * @param isReentrant whether a nested acquire re-enters
   */
  constructor(
    private readonly context: RecipeContext,
    /** @internal */
    readonly name: LockName,
    /** @internal */
    readonly base: BaseLock,
    private readonly isReentrant: boolean,
  ) {}

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  /**
   * Whether one script may acquire it together with other locks.
   *
   * @internal
   */
  get isPlain(): boolean {
    const { commands, isFenced } = this.base.settings;
    return commands.localQueue === 'exclusive' && !commands.backOff && !isFenced;
  }

  /**
   * Whether its server is connected now.
   *
   * @internal
   */
  get isReady(): boolean {
    return this.context.connection.isReady;
  }

  acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    return beginAcquire(() => this.reenter(options) ?? this.base.acquire(options));
  }

  tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    return beginAcquire(() => this.reenter(options) ?? this.base.tryAcquire(options));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /** Resolves to whether the lock is held, which is out of date as soon as it is read. Rejects as `holders` does. */
  async isLocked(): Promise<boolean> {
    return Number(await this.#ask('exists')) === 1;
  }

  /** Resolves to the holder's remaining lease on the server in ms; -2 if the lock is not held, -1 if it does not expire. Rejects as `holders` does. */
  async remainTimeToLive(): Promise<number> {
    return Number(await this.#ask('pttl'));
  }

  /** Resolves to the current holders. Rejects with `LockConnectionError` if there is no answer in time, and with `LockKeyError`. */
  holders(): Promise<LockHolder[]> {
    return answerInTime(this.context, this.base.about, presentHolders(this.context, this.name));
  }

  /**
   * Resolves to the `method` of each holder's acquire, or to the holder's id if it gave none. Rejects as `holders` does.
   *
   * @internal
   */
  holderIds(): Promise<string[]> {
    return answerInTime(this.context, this.base.about, this.askHolderIds());
  }

  /**
   * As `holderIds`, for a caller that has a bound of its own. Rejects as ioredis does.
   *
   * @internal
   */
  async askHolderIds(): Promise<string[]> {
    const holders = await presentHolders(this.context, this.name);
    return holders.map(({ id, method }) => method ?? id);
  }

  /**
   * Removes the holder, for operators; resolves to whether there was one. A holder of this library learns of it at its next
   * renewal, a third of its lease later at the latest, or of the `watchdogTimeout` if it is not renewed; until then there may be
   * two holders.
   *
   * Rejects with `LockKeyError` if it is a read/write lock or no lock at all on the server, else as ioredis does.
   */
  async forceUnlock(): Promise<boolean> {
    const { publishCommand } = this.context.connection;
    const { redisKey, channel, queue } = this.name;
    const waiters = waitersOf(this.context, this.name);
    const requests = new IdempotentRequests(this.context, this.name, this.base.about);
    const args = [publishCommand, channel, waiters];
    const found = await requests.run(lockForceUnlock, [redisKey, queue], args);
    this.base.loseHold('it was unlocked by force');
    return found === 1;
  }

  /**
   * Returns another lease on the caller's hold, if the lock is reentrant and the caller has one.
   *
   * @internal
   * @throws LockOptionsError
   * @throws LockAbortedError
   */
  reenter(options: RedisAcquireOptions): RedisLease | undefined {
    if (this.isReentrant) return this.base.reenter(options);
    this.base.validate(options);
    return undefined;
  }

  #ask(command: string): Promise<unknown> {
    const { context, name, base } = this;
    return answerInTime(context, base.about, context.connection.read(command, name.redisKey));
  }
}
