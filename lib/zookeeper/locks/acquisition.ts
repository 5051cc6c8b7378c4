import {
  type AcquireRequest as CoreAcquireRequest,
  runAcquire,
} from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { ContainerParents } from '../nodes/container-parents.js';
import { RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockHold } from './lock-hold.js';

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

/** After a request of an acquire has failed: makes the directory where that was missing; for the rest, asks the retry policy. */
export async function createMissingParents(
  error: unknown,
  directory: string,
  parents: ContainerParents,
  { wait, retry }: Pick<Acquisition, 'wait' | 'retry'>,
): Promise<void> {
  if (!ZooKeeperError.is(error, ReturnCode.NONODE)) return await retry.after(error);
  try {
    await wait.until(parents.make(directory));
  } catch (failure) {
    if (!ZooKeeperError.is(failure, ReturnCode.NONODE)) await retry.after(failure);
  }
}
