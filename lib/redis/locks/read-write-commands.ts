import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  lockToken,
  readLockAcquire,
  readLockRelease,
  writeLockAcquire,
  writeLockRelease,
} from '../scripts/index.js';
import { type LockCommands, waitersOf, waitTerms } from './lock-commands.js';

/**
 * Commands of the shared half of Redisson's `RReadWriteLock`.
 *
 * @param writer field of the writer that the reader is inside of; else ''
 */
export function readCommands(
  context: RecipeContext,
  name: LockName,
  preferWriters: boolean,
  writer = '',
): LockCommands {
  const { redisKey, readWriteChannel, writers, readers, tagged } = name;
  return {
    redisKey,
    kind: 'read',
    localQueue: 'none',
    leavesQueueEntry: false,
    maxSleep: context.watchdogTimeout,
    channelOf: () => readWriteChannel,
    fieldOf: (holder) => holder,
    renewalKeys: (holder) => [redisKey, name.hold(holder)],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about }) => ({
      script: readLockAcquire,
      keys: [redisKey, name.hold(holder), writers, readers],
      args: [lease, holder, about, writer, preferWriters ? 1 : 0, name.gone(holder)],
    }),
    release: (holder, tombstone) => ({
      script: readLockRelease,
      keys: [redisKey, name.hold(holder), readers],
      args: [
        holder,
        context.connection.publishCommand,
        tagged,
        readWriteChannel,
        tombstone,
        waitersOf(context, name),
      ],
    }),
    token: (holder) => ({ script: lockToken, keys: [redisKey, name.token], args: [holder] }),
  };
}

/** Commands of the exclusive half of Redisson's `RReadWriteLock`. */
export function writeCommands(
  context: RecipeContext,
  name: LockName,
  preferWriters: boolean,
): LockCommands {
  const { redisKey, readWriteChannel, writers, readers, tagged } = name;
  const { watchdogTimeout } = context;
  const fieldOf = (holder: string) => `${holder}:write`;
  return {
    redisKey,
    kind: 'write',
    localQueue: 'exclusive',
    leavesQueueEntry: true,
    maxSleep: preferWriters ? watchdogTimeout / 3 : watchdogTimeout,
    channelOf: (holder, _, isRegistered) =>
      isRegistered ? `${readWriteChannel}:${fieldOf(holder)}` : readWriteChannel,
    fieldOf,
    renewalKeys: (holder) => [redisKey, name.hold(fieldOf(holder))],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about, mayWait }, waited) => ({
      script: writeLockAcquire,
      keys: [redisKey, name.hold(fieldOf(holder)), writers],
      args: [
        lease,
        fieldOf(holder),
        about,
        watchdogTimeout,
        preferWriters && mayWait ? 1 : 0,
        name.gone(holder),
        ...(mayWait ? waitTerms(context, [name], waited) : []),
      ],
    }),
    release: (holder, tombstone) => ({
      script: writeLockRelease,
      keys: [redisKey, name.hold(fieldOf(holder)), writers, readers],
      args: [
        fieldOf(holder),
        context.connection.publishCommand,
        tagged,
        readWriteChannel,
        tombstone,
        waitersOf(context, name),
      ],
    }),
    token: (holder) => ({
      script: lockToken,
      keys: [redisKey, name.token],
      args: [fieldOf(holder)],
    }),
  };
}
