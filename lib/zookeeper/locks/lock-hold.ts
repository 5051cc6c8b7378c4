import type { Timer } from '../../core/clock.js';
import type { ErrorPolicy } from '../../core/election/election-backend.js';
import type { GuardedWrite } from '../../core/lease.js';
import { Hold, type HoldBackend } from '../../core/internal/hold.js';
import { Tenure } from '../../core/hand-off.js';
import { KeptLock } from '../../core/kept-lock.js';
import type { LinePlace } from '../../core/collections/waiting-line.js';
import type { HandOff, LockIdentity } from '../../core/lock.js';
import type { Session } from '../connection/session.js';
import type { ConnectionState } from '../connection/zookeeper-connection.js';
import { type NodeOwner, OwnedNode, type ProtectedNode } from '../nodes/protected-node.js';
import type { RecipeContext } from '../recipe-context.js';
import type { WatchableHold } from './delayed-watches.js';
import { writeGuarded } from './guarded-operations.js';
import { lookForOthers } from './other-queuers.js';

/** What one acquire of a client hands on to the next. */
export interface HandedNodes {
  /** The connected session, to which the nodes belong. */
  readonly session: Session;
  /** The nodes in the order of their sequence numbers, with the watches already set on them. */
  readonly nodes: readonly { readonly node: ProtectedNode; readonly ownWatch?: OwnedNode }[];
  /** Called after the release: whether the nodes are known to be deleted. */
  readonly onRemoved?: ((areGone: boolean) => void) | undefined;
  /** Default: the servers grant it now. */
  readonly tenure?: Tenure | undefined;
}

/** Parameters of a granted lock. */
interface Grant extends HandedNodes {
  readonly identity: LockIdentity;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  readonly method?: string;
  /** Bounds within which it may be handed on to the next acquire in that line. */
  readonly handOff?: HandOff | undefined;
  readonly place?: LinePlace<HandedNodes> | undefined;
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
  readonly #revocationListeners = new Set<() => void>();
  #wasRevoked = false;
  /** Whether its token, a guarded write or its revocation was asked for. */
  #isShown = false;
  /** Only of a lock that may be handed on. */
  readonly #tenure: Tenure | undefined;
  readonly handOffs: number | undefined;
  /** Set once the lock is released but kept until its minimum hold time is over. */
  #kept?: Timer;
  /** Set once the lock is released but kept for the next caller. */
  #keptForNext?: KeptLock;

  constructor(
    private readonly context: RecipeContext,
    private readonly grant: Grant,
  ) {
    const { identity, key, method, session, nodes, errorPolicy, tenure } = grant;
    const { connection, client, clock } = context;
    if (tenure !== undefined) this.handOffs = tenure.handOffs += 1;
    this.#tenure = tenure ?? (grant.handOff && new Tenure(clock.now()));
    this.hold = new Hold(identity, { key, client }, this, method, context);
    this.#watches = nodes.map(({ node, ownWatch }) => ownWatch ?? new OwnedNode(context, node));
    for (const watch of this.#watches) watch.guard(session, this);
    if (errorPolicy === 'standard')
      this.#stopListening = connection.onStateChange((state, reason) =>
        this.#suspended(state, reason),
      );
    const areWatched = this.#watches.every(({ isArmed }) => isArmed); // a reconnect may have disarmed them
    if (!areWatched) this.#stopDelayedWatch = context.delayedWatches.add(this);
  }

  get grantedAt(): number {
    return this.#tenure?.since ?? this.hold.heldSince;
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

  async fencingToken(): Promise<bigint> {
    this.#isShown = true;
    if (this.grant.token !== undefined) return this.grant.token;
    const last = this.#watches.at(-1)!;
    if (last.czxid === undefined) await last.keepWatching();
    const { lost } = this.hold;
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
    this.#revocationListeners.add(listener);
    if (this.#wasRevoked) listener();
    this.watch();
  }

  nodeRevoked(): void {
    this.#wasRevoked = this.#isShown = true;
    this.#keptForNext?.giveBack();
    for (const tell of [...this.#revocationListeners]) tell();
  }

  nodeLost(why: string): void {
    this.hold.markLost(why);
    this.#keptForNext?.giveBack();
    if (this.#kept === undefined) return;
    this.#kept.cancel();
    void this.#endKeeping();
  }

  lost(): void {
    this.grant.place?.leave();
  }

  free(wasLost: boolean): Promise<void | 'kept'> {
    if (!wasLost && (this.#handOn() || this.#keepForNext())) return Promise.resolve();
    const { clock } = this.context;
    const rest = wasLost ? 0 : this.hold.heldSince + this.hold.atLeast - clock.now();
    if (rest <= 0) return this.#remove();
    this.#kept = clock.setTimer(() => void this.#endKeeping(), rest, true);
    return Promise.resolve('kept');
  }

  /** Whether the next caller may have it. Invariant: what others may have seen as its own, such as its token, is not handed on. */
  get #mayGoOn(): boolean {
    const { handOff, errorPolicy } = this.grant;
    const { clock, connection } = this.context;
    const tenure = this.#tenure;
    if (tenure === undefined || handOff === undefined || this.#isShown) return false;
    if (errorPolicy === 'standard' && !connection.isConnected) return false; // it would be lost, and not know
    return tenure.mayGoOn(handOff, clock.now()) && this.hold.atLeast === 0 && this.isExclusive();
  }

  /** Hands the lock on to the next acquire of this client that waits for it; returns whether that took it. */
  #handOn(): boolean {
    const { place, session, onRemoved } = this.grant;
    const tenure = this.#tenure;
    if (place === undefined || place.isLast || !this.#mayGoOn) return false;
    const nodes = this.grant.nodes.map(({ node }, i) => ({ node, ownWatch: this.#watches[i]! }));
    if (!place.handOff({ session, nodes, onRemoved, tenure })) return false;
    this.#stopListening?.();
    this.#stopDelayedWatch?.();
    return true;
  }

  /** Keeps the lock for the next caller, if none waits; returns whether it does. */
  #keepForNext(): boolean {
    const { context } = this;
    const { identity, place, handOff, nodes } = this.grant;
    const tenure = this.#tenure;
    if (!handOff?.keep || !tenure || !place?.isLast || context.accepts !== 'all') return false;
    const ms = tenure.keepFor(handOff, context.clock.now());
    if (ms <= 0 || !this.#mayGoOn) return false;
    const giveBack = () => void this.#remove();
    const hold = { identity, place, tenure, handOn: () => this.#handOn(), giveBack };
    this.#keptForNext = new KeptLock(context, hold, ms);
    if (tenure.stopLooking === undefined)
      lookForOthers(context.connection, identity.name, nodes.length, tenure);
    return true;
  }

  async #endKeeping(): Promise<void> {
    await this.#remove();
    this.hold.emitReleased();
  }

  /** The session and its nodes may survive: the nodes are deleted, as the lease has ended, unless the lock is being kept. */
  #suspended(state: ConnectionState, reason: string): void {
    if (this.context.connection.isConnected || this.#kept !== undefined) return;
    if (this.#keptForNext !== undefined) return this.#keptForNext.giveBack();
    this.nodeLost(`the connection is ${state} (${reason})`);
    for (const { node } of this.grant.nodes) void this.context.removals.remove(node);
  }

  async #remove(): Promise<void> {
    const { removals } = this.context;
    this.#stopListening?.();
    this.#tenure?.end();
    for (const watch of this.#watches) watch.stop();
    const removed = this.grant.nodes.map(({ node }) => removals.remove(node)); // sent at once; the rest is done meanwhile
    this.#stopDelayedWatch?.();
    this.grant.place?.leave(); // now: the next one queues behind those that queue already
    const areGone = await Promise.all(removed);
    this.grant.onRemoved?.(areGone.every(Boolean));
  }
}
