import type { LockName } from '../connection/lock-name.js';
import { fairLockAcquire } from '../scripts/fair-lock-acquire.js';
import { fairLockRelease } from '../scripts/fair-lock-release.js';
import { lockToken } from '../scripts/lock-token.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/** Commands of the lock that Redisson calls `RFairLock`. */
export function fairCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  const { raw, queue, timeouts, alive, channel, token } = name;
  const { watchdogTimeout, fairLockWaitTimeout } = context;
  const keys = [raw, queue, timeouts, alive];
  const acquireKeys = isFenced ? [...keys, token] : keys;
  return {
    raw,
    kind: 'alone',
    line: 'queue',
    queues: true,
    silence: watchdogTimeout / 3,
    channelOf: (holder) => `${channel}:${holder}`,
    fieldOf: (holder) => holder,
    renewalKeys: () => [raw, raw],
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
    token: (holder) => ({ script: lockToken, keys: [raw, name.token], args: [holder] }),
  };
}
