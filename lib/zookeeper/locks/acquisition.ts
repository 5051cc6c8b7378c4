import { type AcquireRequest, runAcquire } from '../../core/internal/acquire.js';
import type { LockHolder } from '../../core/lock-holder.js';
import { type RetryBounds, RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockHold } from './lock-hold.js';

/** One acquire under way, of any recipe. */
export interface Acquisition extends RetryBounds {
  /** False if the acquire resolves without the lock instead of waiting for others. */
  readonly mayWait: boolean;
  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  readonly method?: string | undefined;
  /** The holder, while our own node is the next in the queue. */
  holder?: LockHolder | undefined;
  /** Called when the servers have answered: the next failure starts a new series of retries. */
  answered(): void;
}

/**
 * Runs `work` as an acquire and emits its events; settles as `work` does.
 *
 * @param work resolves to the hold, or to `undefined` if it would have to wait but may not
 */
export function runAcquisition(
  context: RecipeContext,
  request: AcquireRequest,
  work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
): Promise<LockHold | undefined> {
  const { key, mayWait, options } = request;
  const { client, retryPolicy } = context;
  return runAcquire(context, request, (wait) => {
    let retry: RetryLoop | undefined;
    return work({
      wait,
      mayWait,
      method: options.method,
      answered: () => (retry = undefined),
      get retry() {
        return (retry ??= new RetryLoop(retryPolicy, wait, { key, client }));
      },
    });
  });
}
