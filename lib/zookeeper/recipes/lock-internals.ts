import type { AcquireOptions } from '../../core/acquire-options.js';
import { LockClientClosedError } from '../../core/errors/index.js';
import type { Hold, LockIdentity } from '../../core/hold.js';
import { WaitScope } from '../../core/wait-scope.js';
import { LockAttempt } from './lock-attempt.js';
import { LockHold } from './lock-hold.js';
import type { LockInternalsDriver } from './lock-internals-driver.js';
import type { RecipeContext } from './recipe-context.js';
import { RetryLoop } from './retry-loop.js';

/**
 * The queue of one lock, as Curator's class of that name: ephemeral sequential nodes in one directory, served in the
 * order of their numbers.
 */
export class LockInternals {
  constructor(
    private readonly context: RecipeContext,
    private readonly driver: LockInternalsDriver,
    private readonly identity: LockIdentity,
    private readonly key: string,
    private readonly directory: string,
  ) {}

  /**
   * Queues until the lock is held; with `mayWait` false, comes back with `undefined` where others are ahead.
   *
   * Whatever way it ends without a hold, its node is removed: before it comes back from an attempt that may not wait, in
   * the background after an error.
   */
  async acquire(options: AcquireOptions, mayWait: boolean): Promise<Hold | undefined> {
    const { context, key } = this;
    const about = { key, client: context.client };
    if (context.isRefusing) throw new LockClientClosedError(about);
    const wait = new WaitScope({ ...about, clock: context.clock, open: context.waits }, options);
    try {
      const hold = await this.#queue(
        wait,
        new RetryLoop(context.retryPolicy, wait, about),
        mayWait,
      );
      if (hold) context.events.emit('acquired', { key, waitedMs: wait.elapsed });
      return hold;
    } catch (error) {
      context.events.emit('failed', { key, waitedMs: wait.elapsed, error });
      throw error;
    } finally {
      wait.end();
    }
  }

  async #queue(wait: WaitScope, retry: RetryLoop, mayWait: boolean): Promise<Hold | undefined> {
    const { context, key } = this;
    let wasContended = false;
    const onContended = () => {
      if (!wasContended) context.events.emit('contended', { key });
      wasContended = true;
    };
    for (;;) {
      const attempt = new LockAttempt(context, this.driver, this.directory, wait, retry);
      const { node } = attempt;
      try {
        const result = await attempt.run(mayWait, onContended);
        wait.throwIfEnded(); // a grant that comes too late is none
        const { session } = context.connection;
        if (result === 'granted' && session && node.belongsTo(session))
          return new LockHold(context, this.identity, key, attempt, session).hold;
        attempt.ownWatch?.stop();
        const removed = context.removals.remove(node);
        if (result !== 'busy') continue;
        await removed;
        return undefined;
      } catch (error) {
        attempt.ownWatch?.stop();
        void context.removals.remove(node);
        throw error;
      }
    }
  }
}
