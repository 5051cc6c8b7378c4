import { LockOptionsError } from '../../core/errors/index.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import type { Lease } from '../../core/lease.js';
import type { LockIdentity, Mutex } from '../../core/lock.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  fairLockAcquire,
  fairLockRelease,
  lockAcquire,
  lockForceUnlock,
  lockRelease,
  lockToken,
} from '../scripts/index.js';
import type { BackOff } from './back-off.js';
import type { BaseLock } from './base-lock.js';
import { IdempotentRequests } from './idempotent-requests.js';
import type { LockCommands } from './lock-commands.js';
import { readHolders, type LockHolder } from './lock-holders.js';
import type { RedisAcquireOptions, RedisLease } from './redis-lease.js';

/**
 * A mutex on Redis, compatible on the wire with Redisson's `RLock`; with the option `fair` with its `RFairLock`, with
 * `fenced` with its `RFencedLock`.
 *
 * It expires on the server after its lease, which is renewed as long as it is held: so it is exclusive as far as the
 * clocks, and a failover that forgets it, allow. The lease tells of its end before that, by the clock of this process.
 */
export class RedisLock implements Mutex {
  /**
   * @param isReentrant does a nested acquire re-enter?
   */
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
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
   * May one script take it together with others?
   *
   * @internal
   */
  get isPlain(): boolean {
    const { commands, isFenced } = this.base.settings;
    return commands.localQueue === 'exclusive' && !commands.backOff && !isFenced;
  }

  /**
   * Is its server connected now?
   *
   * @internal
   */
  get isReady(): boolean {
    return this.context.connection.isReady;
  }

  async acquire(options: RedisAcquireOptions = {}): Promise<RedisLease> {
    return await (this.reenter(options) ?? this.base.acquire(options));
  }

  async tryAcquire(options: RedisAcquireOptions = {}): Promise<RedisLease | undefined> {
    return await (this.reenter(options) ?? this.base.tryAcquire(options));
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return await runWithLease(await this.acquire(options), fn);
  }

  /** Does anybody hold it? Out of date as soon as it is read. Rejects as ioredis does. */
  async isLocked(): Promise<boolean> {
    return Number(await this.context.connection.read('exists', this.name.redisKey)) === 1;
  }

  /** Milliseconds that whoever holds it has left on the server; -2 when nobody does, -1 when it does not end. */
  async remainTimeToLive(): Promise<number> {
    return Number(await this.context.connection.read('pttl', this.name.redisKey));
  }

  /** Who holds it. Rejects as ioredis does. */
  holders(): Promise<LockHolder[]> {
    return readHolders(this.context.connection, this.name);
  }

  /**
   * Of each holder what it asked with as `method`, else its id.
   *
   * @internal
   */
  async holderIds(): Promise<string[]> {
    return (await this.holders()).map(({ id, method }) => method ?? id);
  }

  /**
   * Takes it from whoever holds it, for an operator; resolves to whether anybody did. A holder of this library is told at
   * its next renewal, a third of its lease later at the latest; until then there may be two.
   *
   * Rejects with `LockKeyError` when it is a read/write lock or no lock at all on the server, else as ioredis does.
   */
  async forceUnlock(): Promise<boolean> {
    const { publishCommand } = this.context.connection;
    const { redisKey, channel, queue } = this.name;
    const requests = new IdempotentRequests(this.context, this.name, this.base.about);
    const found = await requests.run(lockForceUnlock, [redisKey, queue], [publishCommand, channel]);
    this.base.loseHold('it was unlocked by force');
    return found === 1;
  }

  /**
   * Another lease on the hold of the caller, if it is reentrant and the caller has one.
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
}

/** Commands of the lock that Redisson calls `RLock`, and with a token that comes with the grant, `RFencedLock`. */
export function reentrantCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  const { redisKey, channel, token } = name;
  const acquireKeys = isFenced ? [redisKey, token] : [redisKey];
  const releaseKeys = [redisKey];
  return {
    redisKey,
    kind: 'alone',
    localQueue: 'exclusive',
    leavesQueueEntry: false,
    maxSleep: context.watchdogTimeout,
    channelOf: () => channel,
    fieldOf: (holder) => holder,
    renewalKeys: () => [redisKey, redisKey],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about }) => ({
      script: lockAcquire,
      keys: acquireKeys,
      args: [lease, holder, about, 1, name.gone(holder)],
    }),
    release: (holder, tombstone) => ({
      script: lockRelease,
      keys: releaseKeys,
      args: [holder, context.connection.publishCommand, channel, tombstone],
    }),
    token: (holder) => ({ script: lockToken, keys: [redisKey, name.token], args: [holder] }),
  };
}

/** Commands of the lock that Redisson calls `RFairLock`. */
export function fairCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  const { redisKey, queue, timeouts, alive, channel, token } = name;
  const { watchdogTimeout, fairLockWaitTimeout } = context;
  const keys = [redisKey, queue, timeouts, alive];
  const acquireKeys = isFenced ? [...keys, token] : keys;
  return {
    redisKey,
    kind: 'alone',
    localQueue: 'queue',
    leavesQueueEntry: true,
    maxSleep: watchdogTimeout / 3,
    channelOf: (holder) => `${channel}:${holder}`,
    fieldOf: (holder) => holder,
    renewalKeys: () => [redisKey, redisKey],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about, mayWait }) => ({
      script: fairLockAcquire,
      keys: acquireKeys,
      args: [
        lease,
        holder,
        about,
        fairLockWaitTimeout,
        watchdogTimeout,
        mayWait ? 1 : 0,
        context.connection.publishCommand,
        channel,
        name.gone(holder),
      ],
    }),
    release: (holder, tombstone) => ({
      script: fairLockRelease,
      keys,
      args: [holder, context.connection.publishCommand, channel, fairLockWaitTimeout, tombstone],
    }),
    token: (holder) => ({ script: lockToken, keys: [redisKey, name.token], args: [holder] }),
  };
}

/**
 * Commands of the lock that Redisson calls `RSpinLock`: nobody is woken.
 *
 * @throws LockOptionsError
 */
export function spinCommands(
  context: RecipeContext,
  name: LockName,
  key: string,
  backOff: BackOff,
): LockCommands {
  if (typeof (backOff as BackOff | null)?.delays !== 'function')
    throw new LockOptionsError('backOff', backOff, 'a BackOff, with a function `delays`', {
      key,
      client: context.client,
    });
  return {
    ...reentrantCommands(context, name, false),
    backOff,
    release: (holder, tombstone) => ({
      script: lockRelease,
      keys: [name.redisKey],
      args: [holder, '', '', tombstone],
    }),
  };
}
