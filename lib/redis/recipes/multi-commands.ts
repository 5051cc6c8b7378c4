import { lockAcquire } from '../scripts/lock-acquire.js';
import type { ContentionCommands, LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/** What takes many plain mutexes at once; each is given back by itself. */
export function multiCommands(
  context: RecipeContext,
  locks: readonly LockCommands[],
): ContentionCommands {
  const keys = locks.map(({ raw }) => raw);
  return {
    raw: keys.join(' '),
    queues: false,
    silence: context.watchdogTimeout,
    channelOf: (holder, taken) => locks[taken]!.channelOf(holder, 0),
    acquire: ({ lease, holder, about }) => ({
      script: lockAcquire,
      keys,
      args: [lease, holder, about, keys.length, ...locks.map((lock) => lock.tombstoneOf(holder))],
    }),
  };
}
