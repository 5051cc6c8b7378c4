import type { Session } from '../connection/session.js';
import type { Acquisition } from './acquisition.js';
import { LockAttempt, type AttemptPlan, type PlanOf } from './lock-attempt.js';
import type { RecipeContext } from './recipe-context.js';

/** An attempt that was granted, in that session. */
export interface GrantedAttempt {
  readonly attempt: LockAttempt;
  readonly session: Session;
  readonly plan: AttemptPlan;
}

/** Ephemeral nodes in one directory, served in the order of their numbers. */
export class LockQueue {
  constructor(
    private readonly context: RecipeContext,
    private readonly directory: string,
    /** Of the nodes; default: that of the client. */
    private readonly data?: Buffer,
  ) {}

  /**
   * Queues until it is our turn; comes back with what `take` makes of that, or with `undefined` where others are ahead and
   * the acquisition may not wait.
   *
   * Whatever way it ends without a grant, its node is removed: before it comes back from an attempt that may not wait, in
   * the background after an error.
   *
   * @param planOf asked anew for every attempt
   * @param take called in the same turn in which the grant was found to be good, so that nothing comes in between
   */
  async enter<T>(
    acquisition: Acquisition,
    planOf: PlanOf,
    take: (granted: GrantedAttempt) => T,
  ): Promise<T | undefined> {
    const { context, directory } = this;
    const { wait } = acquisition;
    for (;;) {
      const planned = planOf(wait);
      const plan = planned instanceof Promise ? await planned : planned; // the first request goes out in this tick
      const data = this.data ?? context.nodeData;
      const attempt = new LockAttempt(context, plan, directory, data, acquisition);
      const { node } = attempt;
      wait.place = () => node.path;
      try {
        const result = await attempt.run();
        wait.throwIfEnded(); // a grant that comes too late is none
        const { session } = context.connection;
        if (result === 'granted' && session && node.belongsTo(session))
          return take({ attempt, session, plan });
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
