import { LeaseScope } from '../../core/internal/lease-scope.js';
import { WaitScope } from '../../core/internal/wait-scope.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import { BUSY_PAUSE } from './node-requests.js';

/**
 * Sends a change that must not be made twice. Busy servers refuse it without carrying it out, so it is sent again; where the connection
 * is lost it is not, as the caller has to know. Settles as the last request does.
 *
 * Rejects with `ZooKeeperError` `THROTTLEDOP` when they have been busy for `connectTimeout`, with `LockClientClosedError` when the client
 * closes.
 */
export async function resendWhileBusy<T>(
  context: RecipeContext,
  key: string,
  send: () => Promise<T>,
): Promise<T> {
  const { client, clock, waits, connectTimeout } = context;
  const isInside = LeaseScope.isInsideLock();
  const wait = new WaitScope({ key, client, clock, open: waits, isInside }, {});
  try {
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const isBusy = ZooKeeperError.is(error, ReturnCode.THROTTLEDOP);
        if (!isBusy || wait.elapsed >= connectTimeout) throw error;
        await wait.sleep(BUSY_PAUSE);
      }
    }
  } finally {
    wait.end();
  }
}
