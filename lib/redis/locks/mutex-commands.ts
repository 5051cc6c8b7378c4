import { LockOptionsError } from '../../core/errors/index.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  fairLockAcquire,
  fairLockRelease,
  lockAcquire,
  lockRelease,
  lockToken,
  lockWanted,
} from '../scripts/index.js';
import { type BackOff, ExponentialBackOff } from './back-off.js';
import {
  type LockCommand,
  type LockCommands,
  type LockRequest,
  waitersOf,
  waitTerms,
} from './lock-commands.js';

/** Commands of Redisson's `RLock`, or of its `RFencedLock`, where the token comes with the grant. */
export function reentrantCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  return new ReentrantCommands(context, name, isFenced);
}

/** A class, as a process may have a million of them: its methods are shared. */
class ReentrantCommands implements LockCommands {
  readonly redisKey: string;
  readonly kind = 'alone';
  readonly localQueue = 'exclusive';
  readonly leavesQueueEntry = true;
  readonly maxSleep: number;

  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    private readonly isFenced: boolean,
  ) {
    this.redisKey = name.redisKey;
    this.maxSleep = context.watchdogTimeout;
  }

  channelOf(holder: string, _: number, isRegistered: boolean): string {
    const { channel } = this.name;
    return isRegistered ? `${channel}:${holder}` : channel;
  }

  markerOf(channel: string): string | undefined {
    return channel === this.name.channel ? this.name.handingOn : undefined;
  }

  fieldOf(holder: string): string {
    return holder;
  }

  renewalKeys(): [string, string] {
    return [this.redisKey, this.redisKey];
  }

  tombstoneOf(holder: string): string {
    return this.name.gone(holder);
  }

  acquire({ lease, holder, about, mayWait }: LockRequest, waited: number): LockCommand {
    const { context, name, redisKey } = this;
    const queues = mayWait ? waitTerms(context, [name], waited) : [];
    return {
      script: lockAcquire,
      keys: this.isFenced ? [redisKey, name.token] : [redisKey],
      args: [lease, holder, about, 1, name.gone(holder), ...queues],
    };
  }

  release(holder: string, tombstone: string): LockCommand {
    const { publishCommand } = this.context.connection;
    const waiters = waitersOf(this.context, this.name);
    return {
      script: lockRelease,
      keys: [this.redisKey],
      args: [holder, publishCommand, this.name.channel, tombstone, waiters],
    };
  }

  wanted(): LockCommand {
    const { publishCommand } = this.context.connection;
    const count = publishCommand === 'spublish' ? 'shardnumsub' : 'numsub';
    const { channel, handingOn } = this.name;
    const args = [waitersOf(this.context, this.name), count, channel, handingOn];
    return { script: lockWanted, keys: [this.redisKey], args };
  }

  token(holder: string): LockCommand {
    return { script: lockToken, keys: [this.redisKey, this.name.token], args: [holder] };
  }
}

/** Commands of Redisson's `RFairLock`. */
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
 * Commands of Redisson's `RSpinLock`: waiters are not woken.
 *
 * @throws LockOptionsError
 */
export function spinCommands(
  context: RecipeContext,
  name: LockName,
  key: string,
  backOff: BackOff = new ExponentialBackOff(),
): LockCommands {
  if (typeof (backOff as BackOff | null)?.delays !== 'function')
    throw new LockOptionsError('backOff', backOff, 'a BackOff, with a function `delays`', {
      key,
      client: context.client,
    });
  const commands: Partial<LockCommands> = {
    leavesQueueEntry: false,
    backOff,
    acquire: ({ lease, holder, about }) => ({
      script: lockAcquire,
      keys: [name.redisKey],
      args: [lease, holder, about, 1, name.gone(holder)],
    }),
    release: (holder, tombstone) => ({
      script: lockRelease,
      keys: [name.redisKey],
      args: [holder, '', '', tombstone, ''],
    }),
  };
  return Object.assign(reentrantCommands(context, name, false), commands);
}
