import type { Timer } from '../../core/clock.js';
import type { ErrorPolicy } from '../../core/election/election-backend.js';
import type { GuardedWrite } from '../../core/lease.js';
import { Hold, type HoldBackend } from '../../core/internal/hold.js';
import type { Tenure } from '../../core/hand-off.js';
import type { LockIdentity } from '../../core/lock.js';
import type { ConnectionState } from '../connection/zookeeper-connection.js';
import { type NodeOwner, OwnedNode } from '../nodes/owned-node.js';
import type { RecipeContext } from '../recipe-context.js';
import type { WatchableHold } from './delayed-watches.js';
import { writeGuarded } from './guarded-operations.js';
import { type HandedNodes, type HandOffTerms, NextCaller } from './next-caller.js';

/** Parameters of a granted lock. */
interface Grant extends HandedNodes, Partial<Pick<HandOffTerms, 'handOff' | 'place'>> {
  readonly identity: LockIdentity;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  readonly method?: string;
  /** Default: `session`. */
  readonly errorPolicy?: ErrorPolicy;
  /** Fencing token. Default: the transaction that created the last of the nodes. */
  readonly token?: bigint;
}

/** A held lock of this backend: one node, or several, all of which are lost as soon as one of them is. */
export class LockHold implements HoldBackend, WatchableHold, NodeOwner {
  readonly hold: Hold<LockHold>;
  readonly #stopListening?: () => void;
  readonly #stopDelayedWatch?: () => void;
  readonly #watches: readonly OwnedNode[];
  #revocationListeners?: Set<() => void>;
  #wasRevoked = false;
  /** Whether its token, a guarded write or its revocation was asked for. */
  #isShown = false;
  /** Only of a lock that the next callers may have. */
  readonly #next: NextCaller | undefined;
  /** Set once the lock is released but kept until its minimum hold time is over. */
  #kept?: Timer;

  constructor(
    private readonly context: RecipeContext,
    private readonly grant: Grant,
  ) {
    const { method, session, nodes, errorPolicy } = grant;
    const { connection } = context;
    this.hold = this.newHold(method);
    this.#watches = nodes.map(({ node, ownWatch }) => ownWatch ?? new OwnedNode(context, node));
    for (const watch of this.#watches) watch.guard(session, this);
    if (errorPolicy === 'standard')
      this.#stopListening = connection.onStateChange((state, reason) =>
        this.#suspended(state, reason),
      );
    const areWatched = this.#watches.every(({ isArmed }) => isArmed); // a reconnect may have disarmed them
    if (!areWatched) this.#stopDelayedWatch = context.delayedWatches.add(this);
    if (grant.handOff && grant.place)
      this.#next = new NextCaller(context, grant as HandOffTerms, this);
  }

  get handOffs(): number | undefined {
    return this.#next?.tenure.handOffs;
  }

  /** Makes a hold for a caller. */
  newHold(method?: string): Hold<LockHold> {
    const { context } = this;
    const { identity, key } = this.grant;
    return new Hold(identity, { key, client: context.client }, this, method, context);
  }

  get grantedAt(): number {
    return this.#next?.tenure.since ?? this.hold.heldSince;
  }

  get confirmedAgoMs(): number | undefined {
    const { timeout, confirmedAt } = this.grant.session;
    if (timeout === Infinity) return undefined; // embedded: there is nothing to confirm
    return this.context.clock.now() - confirmedAt;
  }

  get safeForMs(): number | undefined {
    const { isDoubtful, safeForMs } = this.grant.session;
    return isDoubtful ? safeForMs : undefined;
  }

  /** Paths of the nodes. */
  get paths(): readonly string[] {
    return this.#watches.map(({ path }) => path);
  }

  get holders(): readonly string[] {
    return this.paths;
  }

  /** Data of the first node. */
  async data(): Promise<Buffer> {
    return (await this.context.connection.getData(this.paths[0]!)).data;
  }

  watch(): void {
    for (const watch of this.#watches) void watch.keepWatching();
  }

  /** Resolves when the servers have reported whether the nodes exist, or when the lock is lost. Never rejects. */
  async confirm(): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch.keepWatching()));
  }

  isExclusive(): boolean {
    return this.#watches.every((watch) => watch.isExclusive);
  }

  async fencingToken(hold: Hold): Promise<bigint> {
    this.#isShown = true;
    if (this.grant.token !== undefined) return this.grant.token;
    const last = this.#watches.at(-1)!;
    if (last.czxid === undefined) await last.keepWatching();
    const { lost } = hold;
    if (lost) throw lost;
    return last.czxid!;
  }

  /** See `HoldBackend.guard`. */
  guard(write: GuardedWrite<unknown>, holds: readonly [Hold, ...Hold[]]): Promise<unknown> {
    const ours = holds as readonly [Hold<LockHold>, ...Hold<LockHold>[]];
    for (const { backend } of ours) backend.#isShown = true;
    return writeGuarded(this.context, write, ours);
  }

  /** Calls `listener` on every revocation request; immediately if there already was one. */
  onRevoked(listener: () => void): void {
    this.#isShown = true;
    (this.#revocationListeners ??= new Set()).add(listener);
    if (this.#wasRevoked) listener();
    this.watch();
  }

  nodeRevoked(): void {
    this.#wasRevoked = this.#isShown = true;
    this.#next?.giveBack();
    for (const listener of [...(this.#revocationListeners ?? [])]) listener();
  }

  nodeLost(why: string): void {
    for (const hold of this.#next?.sharers ?? [this.hold]) hold.markLost(why);
    this.#next?.giveBack();
    if (this.#kept === undefined) return;
    this.#kept.cancel();
    void this.#endKeeping();
  }

  lost(hold: Hold): void {
    this.#next?.lose(hold);
    this.grant.place?.leave();
  }

  free(wasLost: boolean, hold: Hold): Promise<void | 'kept'> | undefined {
    if (this.#next?.takes(hold, wasLost)) return undefined;
    const { clock } = this.context;
    const rest = wasLost ? 0 : this.hold.heldSince + this.hold.atLeast - clock.now();
    if (rest <= 0) return this.#remove();
    this.#kept = clock.setTimer(() => void this.#endKeeping(), rest, true);
    return Promise.resolve('kept');
  }

  /** Invariant: what others may have seen as its own, such as its token, is not handed on. */
  mayGoOn(): boolean {
    return !this.#isShown && this.hold.atLeast === 0 && this.isExclusive();
  }

  handed(tenure: Tenure): HandedNodes {
    const { session, onRemoved } = this.grant;
    const nodes = this.grant.nodes.map(({ node }, i) => ({ node, ownWatch: this.#watches[i]! }));
    return { session, nodes, onRemoved, tenure };
  }

  handedOn(): void {
    this.#stopListening?.();
    this.#stopDelayedWatch?.();
  }

  remove(): void {
    void this.#remove();
  }

  async #endKeeping(): Promise<void> {
    await this.#remove();
    this.hold.emitReleased();
  }

  /** The session and its nodes may survive: the nodes are deleted, as the lease has ended, unless the lock is being kept. */
  #suspended(state: ConnectionState, reason: string): void {
    if (this.context.connection.isConnected || this.#kept !== undefined) return;
    if (this.#next?.isKept) return this.#next.giveBack();
    this.nodeLost(`the connection is ${state} (${reason})`);
    for (const { node } of this.grant.nodes) void this.context.removals.remove(node);
  }

  async #remove(): Promise<void> {
    const { removals } = this.context;
    this.#stopListening?.();
    this.#next?.tenure.end();
    for (const watch of this.#watches) watch.stop();
    const removed = this.grant.nodes.map(({ node }) => removals.remove(node)); // sent at once; the rest is done meanwhile
    this.#stopDelayedWatch?.();
    this.grant.place?.leave(); // now: the next one queues behind those that queue already
    const areGone = await Promise.all(removed);
    this.grant.onRemoved?.(areGone.every(Boolean));
  }
}
