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

/** Parameters of an acquire. */
interface AcquireRequest extends CoreAcquireRequest {
  /** False if the acquire resolves without the lock instead of waiting for others. */
  readonly mayWait: boolean;
}

/** One acquire under way, of any recipe. */
export interface Acquisition {
  /** The events that end it early. */
  readonly wait: WaitScope;
  /** The retries of its failed requests. */
  readonly retry: RetryLoop;
  readonly mayWait: boolean;
  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  readonly method?: string;
  /** Called when others are ahead and the wait begins. */
  contended(): void;
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
  return runAcquire(context, request, (wait, contended) => {
    const retry = new RetryLoop(context.retryPolicy, wait, { key, client: context.client });
    return work({ wait, retry, mayWait, method: options.method, contended });
  });
}

/** Handles a failed request of an acquire: creates the directory if it is missing; otherwise asks the retry policy. */
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
