import type { WatchEvent } from '../connection/zookeeper-connection.js';
import { createMissingParents, type RetryBounds } from '../nodes/retry-loop.js';
import { untilConnected } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';
import type { BarrierDirectory, BarrierMember } from './double-barrier-nodes.js';

/** The member that enters, and the barrier. */
interface BarrierEntryPlan {
  readonly directory: BarrierDirectory;
  readonly member: BarrierMember;
  /** Earlier nodes of the same object that may still exist; taken out once they are known to be gone. */
  readonly remains: BarrierMember[];
  /** Number of members that have to arrive. */
  readonly memberQty: number;
}

/**
 * One member's way into a double barrier: Curator's `internalEnter`.
 *
 * Invariants:
 * - It opens the barrier only when it has just seen enough members, including itself in the session that is connected now,
 *   whatever woke it (GH-1290).
 * - It watches `ready` only once its own node is known to exist. So a creation of `ready` that it is notified of came after
 *   that, and counts even when `ready` is gone again.
 */
export class BarrierEntry {
  #isSwept = false;

  constructor(
    private readonly context: RecipeContext,
    private readonly plan: BarrierEntryPlan,
    private readonly bounds: RetryBounds,
  ) {}

  /** Resolves when the member is in. Rejects with what ended the wait or the retries; the caller must then remove its node. */
  async run(): Promise<void> {
    const { connection, parents } = this.context;
    const { directory, member } = this.plan;
    const { wait } = this.bounds;
    for (;;) {
      wait.throwIfEnded();
      await untilConnected(connection, wait);
      try {
        if (!this.#isSwept) await this.#sweep();
        else if (!member.belongsTo(connection.session)) await member.make(wait);
        else if (await this.#isOpen()) return;
        this.bounds.retry.answered();
      } catch (error) {
        await createMissingParents(error, directory.path, parents, this.bounds);
      }
    }
  }

  /**
   * Removes what is left of an earlier round: this member's former nodes, and `ready` if no member is inside any more, since
   * all have crashed. With that `ready`, every member would enter at once.
   */
  async #sweep(): Promise<void> {
    const { wait } = this.bounds;
    const { remains, directory } = this.plan;
    for (; remains.length > 0; remains.shift()) await wait.until(remains[0]!.remove());
    const synced = this.context.connection.sync(directory.path);
    const [{ members, isOpen }] = await wait.until(Promise.all([directory.look(), synced]));
    if (isOpen && members.length === 0) await wait.until(directory.close());
    this.#isSwept = true;
  }

  /** Whether the barrier is open; false means that the caller must look again. */
  async #isOpen(): Promise<boolean> {
    const { connection } = this.context;
    const { wait } = this.bounds;
    const { directory, member, memberQty } = this.plan;
    let wake!: (event: WatchEvent) => void;
    const woken = new Promise<WatchEvent>((resolve) => (wake = resolve));
    try {
      const [own, ready, count] = await wait.until(
        Promise.all([
          connection.exists(member.path, wake),
          connection.exists(directory.ready, wake),
          directory.look().then(({ members }) => members.length), // their names must not stay on the heap
        ]),
      );
      if (own === undefined || own.ephemeralOwner !== connection.session?.id) {
        member.forget();
        return false;
      }
      if (ready !== undefined) return true;
      if (count >= memberQty) {
        await wait.until(directory.open());
        return true;
      }
      const { type, path } = await wait.until(woken);
      return type === 'created' && path === directory.ready;
    } finally {
      connection.unwatch(member.path, wake);
      connection.unwatch(directory.ready, wake);
    }
  }
}
