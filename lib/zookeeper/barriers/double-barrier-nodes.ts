import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Session } from '../connection/session.js';
import { CreateMode } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren, deleteIfExists } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';

const READY = 'ready';

/** The directory of a double barrier: one node per member, and one called `ready` while the barrier is open. */
export class BarrierDirectory {
  readonly ready: string;

  constructor(
    private readonly context: RecipeContext,
    readonly path: string,
  ) {
    this.ready = `${path}/${READY}`;
  }

  /** Resolves to the sorted names of the members, and whether the barrier is open. */
  async look(): Promise<{ members: string[]; isOpen: boolean }> {
    const children = await listChildren(this.context.connection, this.path);
    const members = children.filter((name) => name !== READY).sort();
    return { members, isOpen: members.length < children.length };
  }

  /** Resolves to the transaction that has opened it, if it is open: another one is that of another round. */
  async openedBy(): Promise<number | undefined> {
    return (await this.context.connection.exists(this.ready))?.czxid;
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
 * The ephemeral node of one member of a double barrier, named by a UUID alone, as in Curator.
 *
 * Invariant: there is at most one across all sessions, since its name stays the same. While the servers still keep the node of
 * a lost session, a second one would make one member count as two.
 */
export class BarrierMember {
  readonly name: string;
  readonly path: string;
  /** Session in which the node may have been created. */
  #session?: Session;
  #isMade = false;

  /** @param directory of the double barrier */
  constructor(
    private readonly context: RecipeContext,
    directory: string,
  ) {
    this.name = context.newId();
    this.path = `${directory}/${this.name}`;
  }

  /** Whether there may be a node, in a session that is alive. */
  get mayExist(): boolean {
    return this.#session?.isAlive === true;
  }

  /** Whether the node was created, as far as known, and not seen to be missing since. */
  get isMade(): boolean {
    return this.#isMade;
  }

  /** Whether the node was created in `session`, as far as known. */
  belongsTo(session: Session | undefined): boolean {
    return this.#isMade && session !== undefined && session === this.#session;
  }

  /** Records that the node was seen to be missing. */
  forget(): void {
    this.#isMade = false;
  }

  /**
   * Creates the node in the session that is connected now; may be called again. Rejects with `ZooKeeperError`, or as soon as
   * `wait` has ended.
   */
  async make(wait: WaitScope): Promise<void> {
    const { connection } = this.context;
    do this.#session = connection.session;
    while (!(await this.#attempt(wait, this.#session?.id)));
    this.#isMade = true;
  }

  /** Sends the removal of the node; does nothing if there is none. */
  remove(): Promise<void> {
    return deleteIfExists(this.context.connection, this.path);
  }

  /** Resolves to false when the caller must try again. */
  async #attempt(wait: WaitScope, session: string | undefined): Promise<boolean> {
    const { connection, nodeData, nodeAcl } = this.context;
    try {
      await wait.until(connection.create(this.path, nodeData, CreateMode.EPHEMERAL, nodeAcl));
      return true;
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
    }
    const stat = await wait.until(connection.exists(this.path));
    if (stat === undefined) return false;
    if (stat.ephemeralOwner === session) return true; // the reply to its create was lost
    await wait.until(this.remove()); // it belongs to an older session
    return false;
  }
}
