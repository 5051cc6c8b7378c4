import { randomUUID } from 'node:crypto';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Session } from '../connection/session.js';
import { CreateMode } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren, deleteIfExists } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';

const READY = 'ready';

/** The directory of a double barrier: a node for each member, and one called `ready` while it is open. */
export class BarrierDirectory {
  readonly ready: string;

  constructor(
    private readonly context: RecipeContext,
    readonly path: string,
  ) {
    this.ready = `${path}/${READY}`;
  }

  /** Names of the members, sorted; is it open? */
  async look(): Promise<{ members: string[]; isOpen: boolean }> {
    const children = await listChildren(this.context.connection, this.path);
    const members = children.filter((name) => name !== READY).sort();
    return { members, isOpen: members.length < children.length };
  }

  async open(): Promise<void> {
    const { parents, nodeData } = this.context;
    try {
      await parents.create(this.ready, nodeData);
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
    }
  }

  close(): Promise<void> {
    return deleteIfExists(this.context.connection, this.ready);
  }
}

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
    return deleteIfExists(this.context.connection, this.path);
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
