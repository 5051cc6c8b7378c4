import { randomUUID } from 'node:crypto';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { CreateMode } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { Session } from '../connection/session.js';
import { deleteIfThere } from './delete-if-there.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * The ephemeral node of one who enters a double barrier, named by a UUID alone, as in Curator.
 *
 * Invariant: there is at most one, over all sessions, since its name stays the same. While the servers still have that of a
 * session we have lost, another one would count one member as two.
 */
export class BarrierMember {
  readonly name = randomUUID();
  readonly path: string;
  /** In which it may have been made. */
  #session?: Session;
  #isMade = false;

  /** @param directory of the double barrier */
  constructor(
    private readonly context: RecipeContext,
    directory: string,
  ) {
    this.path = `${directory}/${this.name}`;
  }

  /** May there be a node, and does it live? */
  get mayExist(): boolean {
    return this.#session?.isAlive === true;
  }

  /** Was it made in `session`, as far as we know? */
  belongsTo(session: Session | undefined): boolean {
    return this.#isMade && session !== undefined && session === this.#session;
  }

  /** It was seen that it is not there. */
  forget(): void {
    this.#isMade = false;
  }

  /**
   * Makes it in the session that is connected now; may be called again. Rejects with `ZooKeeperError`, or as soon as `wait`
   * has ended.
   */
  async make(wait: WaitScope): Promise<void> {
    const { connection } = this.context;
    do this.#session = connection.session;
    while (!(await this.#attempt(wait, this.#session?.id)));
    this.#isMade = true;
  }

  /** Sends its removal; nothing happens where it is not there. */
  remove(): Promise<void> {
    return deleteIfThere(this.context.connection, this.path);
  }

  /** False: try again. */
  async #attempt(wait: WaitScope, session: string | undefined): Promise<boolean> {
    const { connection, nodeData } = this.context;
    try {
      await wait.until(connection.create(this.path, nodeData, CreateMode.EPHEMERAL));
      return true;
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
    }
    const stat = await wait.until(connection.exists(this.path));
    if (stat === undefined) return false;
    if (stat.ephemeralOwner === session) return true; // the answer to its create went missing
    await wait.until(this.remove()); // of an older session
    return false;
  }
}
