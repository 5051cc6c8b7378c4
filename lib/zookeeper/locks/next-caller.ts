import type { LinePlace } from '../../core/collections/waiting-line.js';
import type { ErrorPolicy } from '../../core/election/election-backend.js';
import { Tenure } from '../../core/hand-off.js';
import type { Hold } from '../../core/internal/hold.js';
import { KeptLock } from '../../core/kept-lock.js';
import type { HandOff, LockIdentity } from '../../core/lock.js';
import { SharedHold } from '../../core/shared-hold.js';
import type { Session } from '../connection/session.js';
import type { OwnedNode } from '../nodes/owned-node.js';
import type { ProtectedNode } from '../nodes/protected-node.js';
import type { RecipeContext } from '../recipe-context.js';
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

/** What the next caller gets: the nodes, or a read lock that the caller before it goes on holding. */
export type Handed = HandedNodes | SharedHold;

/** Terms of a lock that the next callers may have. */
export interface HandOffTerms {
  readonly identity: LockIdentity;
  /** Bounds within which they may. */
  readonly handOff: HandOff;
  readonly place: LinePlace<Handed>;
  /** Default: `session`. */
  readonly errorPolicy?: ErrorPolicy | undefined;
  readonly tenure?: Tenure | undefined;
}

/** The lock as its present caller has it. */
interface Held {
  readonly hold: Hold;
  /** Whether it is exclusive, and nothing of it was seen by others that the next caller must not have. */
  mayGoOn(): boolean;
  handed(tenure: Tenure): HandedNodes;
  /** Called when the next caller has it. */
  handedOn(): void;
  newHold(method?: string): Hold;
  /** Deletes the nodes. */
  remove(): void;
}

/** The part of a hold that decides whether the next caller of its client gets it without asking the servers. */
export class NextCaller {
  readonly tenure: Tenure;
  readonly #shared: SharedHold | undefined;
  /** Set once the lock is released but kept. */
  #kept?: KeptLock;

  constructor(
    private readonly context: RecipeContext,
    private readonly terms: HandOffTerms,
    private readonly held: Held,
  ) {
    const { identity, place, tenure } = terms;
    if (tenure !== undefined) tenure.handOffs += 1;
    this.tenure = tenure ?? new Tenure(context.clock.now());
    if (identity.recipe !== 'readLock') return;
    const newHold = (method?: string) => held.newHold(method);
    const grant = { tenure: this.tenure, mayGoOn: () => this.#mayGoOn, newHold };
    this.#shared = new SharedHold(grant, held.hold, place);
  }

  /** Of the callers that have the lock, if several may share it. */
  get sharers(): readonly Hold[] | undefined {
    return this.#shared?.holds;
  }

  /** Whether the lock is kept. */
  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** Called when a hold is released: whether another caller has the lock, gets it now, or will get it as it is kept. */
  takes(hold: Hold, wasLost: boolean): boolean {
    if (this.#shared) return this.#shared.leave(hold);
    return !wasLost && (this.#handOn() || this.#keep());
  }

  /** Called when a hold is lost. */
  lose(hold: Hold): void {
    this.#shared?.lose(hold);
  }

  /** Removes a lock that is kept. */
  giveBack(): void {
    this.#kept?.giveBack();
  }

  get #mayGoOn(): boolean {
    const { clock, connection } = this.context;
    const { errorPolicy, handOff } = this.terms;
    if (errorPolicy === 'standard' && !connection.isConnected) return false; // it would be lost, and not know
    return this.tenure.mayGoOn(handOff, clock.now()) && this.held.mayGoOn();
  }

  /** Hands the lock on to the next acquire of this client that waits for it; returns whether that took it. */
  #handOn(): boolean {
    const { held, tenure } = this;
    const { place } = this.terms;
    if (place.isLast || !this.#mayGoOn || !place.handOff(held.handed(tenure))) return false;
    held.handedOn();
    return true;
  }

  /** Keeps the lock for the next caller, if none waits; returns whether it does. */
  #keep(): boolean {
    const { context, held, tenure } = this;
    const { identity, place, handOff } = this.terms;
    if (!handOff.keep || !place.isLast || context.accepts !== 'all') return false;
    const ms = tenure.keepFor(handOff, context.clock.now());
    if (ms <= 0 || !this.#mayGoOn) return false;
    const giveBack = () => held.remove();
    const hold = { identity, place, tenure, handOn: () => this.#handOn(), giveBack };
    this.#kept = new KeptLock(context, hold, ms);
    if (tenure.stopLooking === undefined) {
      const { nodes } = held.handed(tenure);
      lookForOthers(context.connection, identity.name, nodes.length, tenure);
    }
    return true;
  }
}
