import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Acquisition } from '../locks/acquisition.js';
import { createMissingParents } from '../nodes/retry-loop.js';
import { listChildren, untilConnected } from '../nodes/node-requests.js';
import type { OwnedNode } from '../nodes/owned-node.js';
import { ProtectedNode } from '../nodes/protected-node.js';
import { sortKey } from '../locks/lock-drivers.js';
import type { RecipeContext } from '../recipe-context.js';
import type { SharedCountReader } from '../shared/shared-count.js';

/** What follows the UUID in the names of a semaphore's leases, as in Curator. */
export const LEASE_NAME = 'lease-';

/**
 * Whether the leases `own` may be granted: up to the last of them, there are no more than `permits`. `undefined` if one of
 * them is missing.
 *
 * Curator grants while there are no more than `permits` children in all. This condition grants all of those cases too, and
 * is as safe: among more holders than permits, the holder of the lease with the highest number would have seen all others
 * before it. It also decides between two acquires that arrive at the same time. A child that is no lease takes a permit, as
 * in Curator.
 */
export function mayGrantLeases(
  children: readonly string[],
  own: readonly string[],
  permits: number,
): boolean | undefined {
  const missing = new Set(own);
  for (const name of children) missing.delete(name);
  if (missing.size > 0) return undefined;
  if (children.length <= permits) return true; // however they are ordered
  const keys = children.map((name) => sortKey(name, LEASE_NAME));
  const last = own
    .map((name) => sortKey(name, LEASE_NAME))
    .sort()
    .at(-1)!;
  const standing = keys.filter((key) => key <= last || !/^\d{10}$/.test(key));
  return standing.length <= permits;
}

/** Parameters of a {@link LeaseAttempt}. */
interface LeaseRequest {
  /** Directory of the leases. */
  readonly directory: string;
  /** Data of the nodes. */
  readonly data: Buffer;
  /** Number of leases requested. */
  readonly quantity: number;
  /** Total number of permits of the semaphore. */
  readonly permits: SharedCountReader;
}

/** Outcome of an attempt: it holds, its nodes have vanished (queue again), or there are too few permits and it may not wait. */
type AttemptResult = 'granted' | 'gone' | 'busy';

/** Up to so many permits, a list of their leases costs no more than to ask for their number. */
const FEW = 16;

/**
 * The lease nodes of one acquire on a semaphore, from their creation to the grant of all of them.
 *
 * Invariant: they are granted by an answer about all children, given in the session that created the nodes, after all of
 * them were created: a list (see `mayGrantLeases`), or the number of children if it is no more than there are permits. Among
 * more holders than permits, the last to create its nodes would have seen those of all others, in either. Foreign nodes count
 * in both. The server may lag behind others, but not behind the creates that it has answered.
 *
 * A list also shows that our own nodes are there; in a number they may be missing, if another client has deleted them. So the
 * number counts only in the turn that creates all of them, and only if there are permits for ours beside that number. For few
 * permits and for the last ones, after a wait and after a lost connection, there is always a list.
 */
export class LeaseAttempt {
  readonly nodes: readonly ProtectedNode[];
  readonly #wait: WaitScope;
  /** Wakes the waiting attempt. */
  #wake = () => {};

  constructor(
    private readonly context: RecipeContext,
    private readonly request: LeaseRequest,
    private readonly acquisition: Acquisition,
  ) {
    const { directory, data, quantity } = request;
    this.#wait = acquisition.wait;
    this.nodes = Array.from(
      { length: quantity },
      () => new ProtectedNode(context, directory, LEASE_NAME, data),
    );
  }

  /**
   * Rejects with the error that ended the wait or the retries. The caller then removes the nodes, unless they were granted.
   *
   * @param gate keeps other acquires from waiting at the same time; if it is lost, the attempt resolves to `gone`
   */
  async run(gate?: OwnedNode): Promise<AttemptResult> {
    const { connection, parents } = this.context;
    for (let isListening = false; ;) {
      this.#wait.throwIfEnded();
      if (!connection.isConnected) await untilConnected(connection, this.#wait);
      if (!this.#belongToSession || gate?.isExclusive === false) return 'gone';
      const changed = new Promise<void>((resolve) => (this.#wake = resolve));
      const stop = isListening ? this.request.permits.onChange(this.#wake) : undefined;
      try {
        const { directory } = this.request;
        if (parents.open.size > 0) await this.#wait.until(parents.settle(directory));
        const turn = await this.#turn(isListening ? this.#wake : undefined);
        this.acquisition.answered();
        if (turn === undefined) return 'gone';
        if (turn && this.#mayGrant) return 'granted';
        if (turn) continue;
        if (!this.acquisition.mayWait) return 'busy';
        this.#wait.contended();
        if (isListening) await this.#wait.until(changed);
        else void gate?.keepWatching(); // then list again, listening from before that
        isListening = true;
      } catch (error) {
        const settled = Promise.all(this.nodes.map((node) => node.settled()));
        await this.#wait.until(settled); // one create has failed, others may be under way
        const { directory } = this.request;
        const refused = Math.max(...this.nodes.map(({ refusedBytes }) => refusedBytes));
        await createMissingParents(error, directory, parents, this.acquisition, refused);
      } finally {
        stop?.();
        connection.unwatch(this.request.directory, this.#wake);
      }
    }
  }

  /** The nodes in the order of their sequence numbers: one that had to be created again may come after the others. */
  get ordered(): readonly ProtectedNode[] {
    return this.nodes.toSorted((a, b) => a.sequence - b.sequence);
  }

  /** Removes the nodes; the requests go out in this tick. Resolves when this is done, or continues in the background. */
  async remove(): Promise<void> {
    const { removals } = this.context;
    const areGone = await Promise.all(this.nodes.map((node) => removals.remove(node)));
    if (!areGone.includes(true)) this.acquisition.discardMade?.();
  }

  /** Called when the gate is lost. */
  wake(): void {
    this.#wake();
  }

  get #belongToSession(): boolean {
    return this.nodes.every((node) => node.belongsTo(this.context.connection.session));
  }

  get #mayGrant(): boolean {
    const { isConnected } = this.context.connection;
    return isConnected && this.#belongToSession && this.nodes.every(({ mayExist }) => mayExist);
  }

  async #turn(watcher?: () => void): Promise<boolean | undefined> {
    const { request } = this;
    const areNew = this.nodes.every(({ path, isUncertain }) => path === undefined && !isUncertain);
    if (areNew && watcher === undefined && request.permits.count > FEW)
      if (await this.#enter()) return true;
    const children = await this.#children(watcher);
    this.#checkOrder();
    const names = this.nodes.map(({ name }) => name);
    return mayGrantLeases(children, names, request.permits.count);
  }

  /**
   * Creates all leases; resolves to true if there were permits for all nodes right after that, even if another client has
   * deleted ours meanwhile, so that they are missing in the number.
   */
  async #enter(): Promise<boolean> {
    const { directory, permits } = this.request;
    const created = this.nodes.map((node) => node.create());
    // In the same turn: answered behind the creates.
    const counted = this.context.connection.exists(directory);
    const [stat] = await this.#wait.until(Promise.all([counted, ...created]));
    this.#checkOrder();
    return stat !== undefined && stat.numChildren + this.nodes.length <= permits.count;
  }

  #checkOrder(): void {
    if (!this.nodes.every(({ isInOrder }) => isInOrder))
      throw this.acquisition.retry.outOfNumbers(this.request.directory);
  }

  /** Lists all leases, as of some time after ours were created; creates those of ours that are missing. */
  async #children(watcher?: () => void): Promise<string[]> {
    const { connection, listings } = this.context;
    const { directory } = this.request;
    const uncertain = this.nodes.filter(({ isUncertain }) => isUncertain);
    if (uncertain.length > 0)
      await this.#wait.until(Promise.all(uncertain.map((node) => node.locate()))); // in one round trip
    const missing = this.nodes.filter(({ path }) => path === undefined);
    const created = missing.map((node) => node.create());
    // In the same turn: answered behind the creates.
    const listed = watcher
      ? listChildren(connection, directory, watcher)
      : listChildren(listings, directory);
    const [children] = await this.#wait.until(Promise.all([listed, ...created]));
    return children;
  }
}
