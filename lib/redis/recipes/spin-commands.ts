import { LockOptionsError } from '../../core/errors/index.js';
import type { LockName } from '../connection/lock-name.js';
import { lockRelease } from '../scripts/lock-release.js';
import type { BackOff } from './back-off.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';
import { reentrantCommands } from './reentrant-commands.js';

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
      keys: [name.raw],
      args: [holder, '', '', tombstone],
    }),
  };
}
