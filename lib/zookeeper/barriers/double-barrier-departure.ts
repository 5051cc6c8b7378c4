import { type LockErrorContext, LockLostError } from '../../core/errors/index.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { RetryBounds } from '../nodes/retry-loop.js';
import { waitForChange, untilConnected } from '../nodes/node-requests.js';
import type { BarrierDirectory, BarrierMember } from './double-barrier-nodes.js';

/**
 * One member's way out of a double barrier: all members except the lowest remove their nodes and wait for the lowest; the
 * lowest waits for the highest, and when it is the last, removes `ready` and then its own node.
 *
 * Invariants:
 * - No member is out before `ready` is gone. So a member that enters again at once does not join the round that is just ending.
 * - It waits only for members that were there while the barrier was open, never for those of the next round. Until its own node is
 *   removed, there is no next round; after that, a `ready` of another transaction is that of another round.
 */
export class BarrierDeparture {
  #hasLeft = false;
  /** Names of the members that are inside together. */
  #round?: ReadonlySet<string>;
  /** The transaction that has opened the barrier for them. */
  #openedBy?: number | undefined;

  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly directory: BarrierDirectory,
    private readonly member: BarrierMember,
    private readonly bounds: RetryBounds,
    private readonly about: LockErrorContext,
  ) {}

  /**
   * Resolves when all members are out. Rejects with `LockLostError` when this member was no longer inside, else with what ended
   * the wait or the retries; the caller must then remove its node.
   */
  async run(): Promise<void> {
    const { connection, directory } = this;
    const { wait, retry } = this.bounds;
    for (;;) {
      wait.throwIfEnded();
      await untilConnected(connection, wait);
      if (!this.member.belongsTo(connection.session)) this.#gone('its session ended');
      try {
        const blocker = await this.#step();
        if (blocker === undefined) return;
        retry.answered();
        await waitForChange(connection, `${directory.path}/${blocker}`, wait);
      } catch (error) {
        await retry.after(error);
      }
    }
  }

  /** Resolves to the name of the member to wait for, or to `undefined` when all members are out. */
  async #step(): Promise<string | undefined> {
    const { name } = this.member;
    // Asked last: a `ready` that is there still, or again, was there with all these members only if it is still the same.
    const looks = Promise.all([this.directory.look(), this.directory.openedBy()]);
    const [{ members, isOpen }, openedBy] = await this.bounds.wait.until(looks);
    const isThere = members.includes(name);
    if (!isThere) this.#gone('its node was deleted');
    const isSame = isOpen && (!this.#hasLeft || openedBy === this.#openedBy);
    if (this.#round === undefined || isSame) {
      this.#round = new Set(members);
      this.#openedBy = openedBy;
    }
    const others = members.filter((other) => other !== name && this.#round!.has(other));
    if (others.length === 0) {
      await this.#close(isThere, isSame);
      return undefined;
    }
    if (!this.#hasLeft && name < others[0]!) return others.at(-1);
    this.#hasLeft = true;
    if (isThere) await this.bounds.wait.until(this.member.remove());
    return others[0];
  }

  /** For the last member: sends the removal of `ready` first, then that of its own node, as the first invariant requires. */
  async #close(isThere: boolean, isOpen: boolean): Promise<void> {
    this.#hasLeft = true;
    const closed = isOpen ? this.directory.close() : undefined;
    const removed = isThere ? this.member.remove() : undefined;
    await this.bounds.wait.until(Promise.all([closed, removed]));
  }

  /** The node is gone, or will be. Until it was seen inside, the others may have left without waiting for this member. */
  #gone(why: string): void {
    if (this.#round === undefined) throw new LockLostError(why, this.about);
    this.#hasLeft = true;
  }
}
