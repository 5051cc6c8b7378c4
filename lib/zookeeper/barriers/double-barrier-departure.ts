import { type LockErrorContext, LockLostError } from '../../core/errors/index.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { Acquisition } from '../locks/acquisition.js';
import { waitForChange, untilConnected } from '../nodes/node-requests.js';
import type { BarrierDirectory, BarrierMember } from './double-barrier-nodes.js';

/**
 * One member's way out of a double barrier: all but the lowest remove their nodes and wait for the lowest; that one waits
 * for the highest, and when it is the last, removes `ready` and then itself.
 *
 * Invariants:
 * - Nobody is out before `ready` is gone. So who enters again at once does not come into the round that is just ending.
 * - It waits for those only who were there while the barrier was open, not for those of the next round.
 */
export class BarrierDeparture {
  #hasLeft = false;
  /** Names of those who are inside together. */
  #round?: ReadonlySet<string>;

  constructor(
    private readonly connection: ZooKeeperConnection,
    private readonly directory: BarrierDirectory,
    private readonly member: BarrierMember,
    private readonly bounds: Pick<Acquisition, 'wait' | 'retry'>,
    private readonly about: LockErrorContext,
  ) {}

  /**
   * Resolves when all are out. Rejects with `LockLostError` when it was not inside any more, else with what ended the wait or
   * the retries; its node is then to be removed.
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

  /** Resolves to whom to wait for; to nobody when all are out. */
  async #step(): Promise<string | undefined> {
    const { name } = this.member;
    const { members, isOpen } = await this.bounds.wait.until(this.directory.look());
    const isThere = members.includes(name);
    if (!isThere) this.#gone('somebody deleted its node');
    if (this.#round === undefined || isOpen) this.#round = new Set(members);
    const others = members.filter((other) => other !== name && this.#round!.has(other));
    if (others.length === 0) {
      await this.#close(isThere, isOpen);
      return undefined;
    }
    if (!this.#hasLeft && name < others[0]!) return others.at(-1);
    this.#hasLeft = true;
    if (isThere) await this.bounds.wait.until(this.member.remove());
    return others[0];
  }

  /** We are the last. In this order, see above. */
  async #close(isThere: boolean, isOpen: boolean): Promise<void> {
    this.#hasLeft = true;
    const closed = isOpen ? this.directory.close() : undefined;
    const removed = isThere ? this.member.remove() : undefined;
    await this.bounds.wait.until(Promise.all([closed, removed]));
  }

  /** Our node is gone, or will be. Until it was seen in here, we cannot know that the others have waited for us. */
  #gone(why: string): void {
    if (this.#round === undefined) throw new LockLostError(why, this.about);
    this.#hasLeft = true;
  }
}
