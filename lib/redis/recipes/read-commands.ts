import type { LockName } from '../connection/lock-name.js';
import { readLockAcquire } from '../scripts/read-lock-acquire.js';
import { readLockRelease } from '../scripts/read-lock-release.js';
import { lockToken } from '../scripts/lock-token.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * Commands of the shared half of the lock that Redisson calls `RReadWriteLock`.
 *
 * @param writer the field of the writer that the reader is inside of, if it is
 */
export function readCommands(
  context: RecipeContext,
  name: LockName,
  preferWriters: boolean,
  writer = '',
): LockCommands {
  const { raw, readWriteChannel, writers, tagged } = name;
  return {
    raw,
    kind: 'read',
    line: 'nobody',
    queues: false,
    silence: context.watchdogTimeout,
    channelOf: () => readWriteChannel,
    fieldOf: (holder) => holder,
    renewalKeys: (holder) => [raw, name.hold(holder)],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, about }) => ({
      script: readLockAcquire,
      keys: [raw, name.hold(holder), writers],
      args: [lease, holder, about, writer, preferWriters ? 1 : 0, name.gone(holder)],
    }),
    release: (holder, tombstone) => ({
      script: readLockRelease,
      keys: [raw, name.hold(holder)],
      args: [holder, context.connection.publishCommand, tagged, readWriteChannel, tombstone],
    }),
    token: (holder) => ({ script: lockToken, keys: [raw, name.token], args: [holder] }),
  };
}
