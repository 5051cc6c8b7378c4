import type { Acquisition } from './acquisition.js';
import { LockQueue, type GrantedAttempt } from './lock-queue.js';
import { NodeWatch } from './node-watch.js';
import type { RecipeContext } from './recipe-context.js';
import { standardLockInternalsDriver } from './lock-drivers.js';

/** The gate, while it is ours. */
export interface OpenGate {
  readonly watch: NodeWatch;
  /** Lets the next one in. The deletion goes out in this tick. */
  close(): void;
}

/** The mutex in front of a semaphore: one at a time waits for permits, in the order of coming. */
export class SemaphoreGate {
  readonly #queue: LockQueue;

  constructor(
    private readonly context: RecipeContext,
    directory: string,
  ) {
    this.#queue = new LockQueue(context, directory);
  }

  /** Queues; rejects with what ended the wait. */
  async enter(acquisition: Acquisition, onLost: () => void): Promise<OpenGate> {
    const plan = { driver: standardLockInternalsDriver };
    const gate = await this.#queue.enter(
      acquisition,
      () => plan,
      (granted) => this.#open(granted, onLost),
    );
    return gate!; // who may wait ends with a grant or an error
  }

  #open({ attempt, session }: GrantedAttempt, onLost: () => void): OpenGate {
    const { removals } = this.context;
    const owner = { nodeLost: onLost, nodeRevoked: () => {} };
    const watch = attempt.ownWatch ?? new NodeWatch(this.context, attempt.node.path!);
    watch.guard(session, owner);
    const close = () => {
      watch.stop();
      void removals.remove(attempt.node).then((isGone) => isGone && attempt.removed());
    };
    return { watch, close };
  }
}
