import {
  runAcquire,
  type AcquireRequest as CoreAcquireRequest,
} from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { LockHold } from './lock-hold.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';

/** What is asked for. */
export interface AcquireRequest extends CoreAcquireRequest {
  /** False: rather come back without the lock than wait for others. */
  readonly mayWait: boolean;
}

/** One acquire under way, whatever the recipe. */
export interface Acquisition {
  /** What ends it. */
  readonly wait: WaitScope;
  /** What it may try again. */
  readonly retry: RetryLoop;
  readonly mayWait: boolean;
  /** Who asks. */
  readonly method?: string;
  /** Others are ahead, and it begins to wait. */
  contended(): void;
}

/**
 * Runs `work` as an acquire, and tells its events; settles as it does.
 *
 * @param work resolves to the hold, or to `undefined` where it may not wait
 */
export function runAcquisition(
  context: RecipeContext,
  request: AcquireRequest,
  work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
): Promise<LockHold | undefined> {
  const { key, mayWait, options } = request;
  return runAcquire(context, request, (wait, contended) => {
    const retry = new RetryLoop(context.retryPolicy, wait, { key, client: context.client });
    return work({ wait, retry, mayWait, method: options.method, contended });
  });
}
