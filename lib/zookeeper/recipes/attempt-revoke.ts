import { LockKeyError } from '../../core/errors/index.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import type { RecipeContext } from './recipe-context.js';
import { REVOKE_MESSAGE } from './revoke-message.js';
import { untilAnswered } from './until-answered.js';

/**
 * Asks whoever stands in a queue with the node `participant` for the lock, as Curator's `Revoker`: listeners of its lease
 * are called. Resolves to false when there is no such node any more.
 *
 * Rejects with `LockKeyError` when it is not a path, otherwise as `untilAnswered` does.
 */
export async function attemptRevoke(context: RecipeContext, participant: string): Promise<boolean> {
  const isPath = typeof participant === 'string' && isCanonicalPath(participant);
  if (!isPath || participant === '/')
    throw new LockKeyError(participant, 'it is no participant; take one from `participants()`', {
      client: context.client,
    });
  try {
    await untilAnswered(context, participant, () =>
      context.connection.setData(participant, REVOKE_MESSAGE),
    );
    return true;
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
    throw error;
  }
}
