import type { AcquireOptions } from '../../core/acquire-options.js';
import { LockClientClosedError } from '../../core/errors/index.js';
import { WaitScope } from '../../core/wait-scope.js';
import type { LockHold } from './lock-hold.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';

/** What is asked for. */
export interface AcquireRequest {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly options: AcquireOptions;
  /** False: rather come back without the lock than wait for others. */
  readonly mayWait: boolean;
  /** Does the caller go on inside of a lock that it holds? Then it may finish while the client shuts down. */
  readonly isInside?: boolean;
}

/** One acquire under way, whatever the recipe: what ends it, what it may retry, what it has told. */
export class Acquisition {
  readonly retry: RetryLoop;
  #wasContended = false;

  private constructor(
    private readonly context: RecipeContext,
    private readonly request: AcquireRequest,
    readonly wait: WaitScope,
  ) {
    const about = { key: request.key, client: context.client };
    this.retry = new RetryLoop(context.retryPolicy, wait, about);
  }

  get mayWait(): boolean {
    return this.request.mayWait;
  }

  /**
   * Runs `work` as an acquire, and tells its events; settles as it does.
   *
   * @param work resolves to the hold, or to `undefined` where it may not wait
   */
  static async run(
    context: RecipeContext,
    request: AcquireRequest,
    work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
  ): Promise<LockHold | undefined> {
    const { key, options, isInside = false } = request;
    const about = { key, client: context.client };
    const isAdmitted = context.admits === 'all' || (context.admits === 'insiders' && isInside);
    if (!isAdmitted) throw new LockClientClosedError(about);
    const wait = new WaitScope({ ...about, clock: context.clock, open: context.waits }, options);
    try {
      const hold = await work(new Acquisition(context, request, wait));
      if (hold) context.events.emit('acquired', { key, waitedMs: wait.elapsed });
      return hold;
    } catch (error) {
      context.events.emit('failed', { key, waitedMs: wait.elapsed, error });
      throw error;
    } finally {
      wait.end();
    }
  }

  /** Others are ahead, and it begins to wait. */
  contended(): void {
    if (this.#wasContended) return;
    this.#wasContended = true;
    this.context.events.emit('contended', { key: this.request.key });
  }
}
