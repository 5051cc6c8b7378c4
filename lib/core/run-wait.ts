import { openWait, type WaitContext, type WaitRequest } from './open-wait.js';
import type { WaitScope } from './wait-scope.js';

/**
 * Runs `work` under the bounds that were asked for; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client admits nobody like that.
 */
export async function runWait<T>(
  context: WaitContext,
  request: WaitRequest,
  work: (wait: WaitScope) => Promise<T>,
): Promise<T> {
  const wait = openWait(context, request);
  try {
    return await work(wait);
  } finally {
    wait.end();
  }
}
