import {
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../core/errors/index.js';
import { WaitScope } from '../../core/internal/wait-scope.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';
import { untilConnected } from './until-connected.js';

/**
 * Sends a request that may be carried out twice, again after a lost connection, until it is answered; settles as it does.
 *
 * Rejects with `LockConnectionError` when the retry policy gives up or `connectTimeout` is over, with
 * `LockClientClosedError` when the client closes.
 */
export async function untilAnswered<T>(
  context: RecipeContext,
  key: string,
  send: () => Promise<T>,
): Promise<T> {
  const { connection, client, clock, waits, connectTimeout, retryPolicy, admits } = context;
  const about = { key, client };
  if (admits !== 'all') throw new LockClientClosedError(about);
  const wait = new WaitScope({ ...about, clock, open: waits }, { wait: connectTimeout });
  const retry = new RetryLoop(retryPolicy, wait, about);
  try {
    for (;;) {
      await untilConnected(connection, wait);
      try {
        return await wait.until(send());
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || !error.isTransient) throw error;
        await retry.after(error);
      }
    }
  } catch (cause) {
    if (!(cause instanceof LockTimeoutError)) throw cause;
    throw new LockConnectionError(
      `Lock client "${client}" had no answer about "${key}" within ${connectTimeout} ms. Check that the servers run, or raise \`connectTimeout\`.`,
      { ...about, cause },
    );
  } finally {
    wait.end();
  }
}
