import { runAcquire, type AcquireRequest as CoreAcquireRequest } from '../../core/run-acquire.js';
import type { WaitScope } from '../../core/wait-scope.js';
import type { LockHold } from './lock-hold.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';

/** What is asked for. */
export interface AcquireRequest extends CoreAcquireRequest {
  /** False: rather come back without the lock than wait for others. */
  readonly mayWait: boolean;
}

/** One acquire under way, whatever the recipe: what ends it, what it may retry, what it has told. */
export class Acquisition {
  readonly retry: RetryLoop;

  private constructor(
    context: RecipeContext,
    private readonly request: AcquireRequest,
    readonly wait: WaitScope,
    /** Others are ahead, and it begins to wait. */
    readonly contended: () => void,
  ) {
    const about = { key: request.key, client: context.client };
    this.retry = new RetryLoop(context.retryPolicy, wait, about);
  }

  get mayWait(): boolean {
    return this.request.mayWait;
  }

  /** Who asks. */
  get method(): string | undefined {
    return this.request.options.method;
  }

  /**
   * Runs `work` as an acquire, and tells its events; settles as it does.
   *
   * @param work resolves to the hold, or to `undefined` where it may not wait
   */
  static run(
    context: RecipeContext,
    request: AcquireRequest,
    work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
  ): Promise<LockHold | undefined> {
    return runAcquire(context, request, (wait, contended) =>
      work(new Acquisition(context, request, wait, contended)),
    );
  }
}
