import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { parentPath } from '../connection/znode-path.js';
import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';
import { untilAnswered } from './until-answered.js';

/** Made, or its parent removed, meanwhile. */
const MEANWHILE: readonly number[] = [ReturnCode.NODEEXISTS, ReturnCode.NONODE];

/**
 * Sends a request about a node that stays, one that may be carried out twice, until it is answered; makes the node with
 * `bytes` where it is missing. Rejects as `untilAnswered` does.
 */
export function orMakeNode<T>(
  context: RecipeContext,
  { key, path }: LockSettings,
  bytes: Buffer,
  send: () => Promise<T>,
): Promise<T> {
  const { parents } = context;
  return untilAnswered(context, key, async () => {
    for (;;) {
      await parents.settle(path);
      try {
        return await send();
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      }
      try {
        await parents.make(parentPath(path));
        await parents.create(path, bytes);
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || !MEANWHILE.includes(error.rc)) throw error;
      }
    }
  });
}
