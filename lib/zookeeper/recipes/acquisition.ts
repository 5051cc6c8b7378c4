import type { AcquireOptions } from '../../core/acquire-options.js';
import { LockClientClosedError } from '../../core/errors/index.js';
import { WaitScope } from '../../core/wait-scope.js';
import type { LockHold } from './lock-hold.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';

/** One acquire under way, whatever the recipe: what ends it, what it may retry, what it has told. */
export class Acquisition {
  readonly retry: RetryLoop;
  #wasContended = false;

  private constructor(
    private readonly context: RecipeContext,
    private readonly key: string,
    readonly wait: WaitScope,
    /** False: rather come back without the lock than wait for others. */
    readonly mayWait: boolean,
  ) {
    this.retry = new RetryLoop(context.retryPolicy, wait, { key, client: context.client });
  }

  /**
   * Runs `work` as an acquire of the lock `key`, and tells its events; settles as it does.
   *
   * @param work resolves to the hold, or to `undefined` where it may not wait
   */
  static async run(
    context: RecipeContext,
    key: string,
    options: AcquireOptions,
    mayWait: boolean,
    work: (acquisition: Acquisition) => Promise<LockHold | undefined>,
  ): Promise<LockHold | undefined> {
    const about = { key, client: context.client };
    if (context.isRefusing) throw new LockClientClosedError(about);
    const wait = new WaitScope({ ...about, clock: context.clock, open: context.waits }, options);
    try {
      const hold = await work(new Acquisition(context, key, wait, mayWait));
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
    this.context.events.emit('contended', { key: this.key });
  }
}
