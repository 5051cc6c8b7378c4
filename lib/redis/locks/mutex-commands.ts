import { LockOptionsError } from '../../core/errors/index.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  fairLockAcquire,
  fairLockRelease,
  lockAcquire,
  lockRelease,
  lockToken,
} from '../scripts/index.js';
import { type BackOff, ExponentialBackOff } from './back-off.js';
import type { LockCommands } from './lock-commands.js';

/**
 * Key of the waiters of a plain lock; '' where none are registered: a release counts the receivers of a message, and in a
 * cluster without sharded channels some may be subscribed at other nodes. Known once the client is connected.
 */
export function waitersOf({ connection }: RecipeContext, name: LockName): string {
  const counts = !connection.isCluster || connection.publishCommand === 'spublish';
  return counts ? name.waiters : '';
}

/** Commands of Redisson's `RLock`, or of its `RFencedLock`, where the token comes with the grant. */
export function reentrantCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  const { redisKey, channel, token } = name;
  const { watchdogTimeout } = context;
  const acquireKeys = isFenced ? [redisKey, token] : [redisKey];
  const releaseKeys = [redisKey];
  return {
    redisKey,
    kind: 'alone',
    localQueue: 'exclusive',
    leavesQueueEntry: true,
    maxSleep: watchdogTimeout,
    channelOf: (holder, _, isRegistered) => (isRegistered ? `${channel}:${holder}` : channel),
    fieldOf: (holder) => holder,
    renewalKeys: () => [redisKey, redisKey],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about, mayWait }, waited) => {
      const waiters = waitersOf(context, name);
      const queues = mayWait && waiters !== '' ? [waiters, waited, watchdogTimeout] : [];
      return {
        script: lockAcquire,
        keys: acquireKeys,
        args: [lease, holder, about, 1, name.gone(holder), ...queues],
      };
    },
    release: (holder, tombstone) => ({
      script: lockRelease,
      keys: releaseKeys,
      args: [
        holder,
        context.connection.publishCommand,
        channel,
        tombstone,
        waitersOf(context, name),
      ],
    }),
    token: (holder) => ({ script: lockToken, keys: [redisKey, name.token], args: [holder] }),
  };
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
  return {
    ...reentrantCommands(context, name, false),
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
}
