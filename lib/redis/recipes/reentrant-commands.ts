import type { LockName } from '../connection/lock-name.js';
import { lockAcquire } from '../scripts/lock-acquire.js';
import { lockRelease } from '../scripts/lock-release.js';
import { lockToken } from '../scripts/lock-token.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/** Commands of the lock that Redisson calls `RLock`, and with a token that comes with the grant, `RFencedLock`. */
export function reentrantCommands(
  context: RecipeContext,
  name: LockName,
  isFenced: boolean,
): LockCommands {
  const { raw, channel, token } = name;
  const acquireKeys = isFenced ? [raw, token] : [raw];
  const releaseKeys = [raw];
  return {
    raw,
    kind: 'alone',
    line: 'contenders',
    queues: false,
    silence: context.watchdogTimeout,
    channelOf: () => channel,
    fieldOf: (holder) => holder,
    renewalKeys: () => [raw, raw],
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
    token: (holder) => ({ script: lockToken, keys: [raw, name.token], args: [holder] }),
  };
}
