import { type Clock, systemClock, type Timer } from '../clock.js';
import type { GuardedWrite } from '../lease.js';
import { type LockErrorContext, LockLostError, type LossEvidence } from '../errors/index.js';
import { type LockSubject, lockSubject } from '../lock-events.js';
import type { LockIdentity } from '../lock.js';
import { EventLoopStalls } from './event-loop-stalls.js';
import { LeaseScope } from './lease-scope.js';
import type { LockEventEmitter } from './lock-event-emitter.js';
import type { OrderedSet } from '../collections/ordered-set.js';

/** Backend operations on a granted lock. */
export interface HoldBackend {
  /** Whether the lock may still be exclusive. Checks the clock now, since an event may come late. */
  isExclusive(): boolean;
  fencingToken(hold: Hold): Promise<bigint>;
  /** Called at most once for a hold, when another client may hold the lock from now on, before any listener learns of it. */
  lost(hold: Hold): void;
  /** Releases the lock, but not before `atLeast`: then it is `kept`, and calls `emitReleased` later. Never rejects. `undefined`: it was handed on. */
  free(wasLost: boolean, hold: Hold): Promise<void | 'kept'> | undefined;
  /** Holds of which this one consists: work under it is work under each of them. */
  readonly parts?: readonly Hold[] | undefined;
  readonly clock?: Clock | undefined; // default: that of the machine
  /** How often it was handed on from caller to caller; see `MutexOptions.handOff`. */
  readonly handOffs?: number | undefined;
  readonly confirmedAgoMs?: number | undefined; // see `LockLostError`
  /** If it is endangered, see `LockEvents`: the ms after which it is lost. */
  readonly safeForMs?: number | undefined;
  /** See `Lease.guard`: for holds of this client, which may be parts of one. Default: there is no one server that could. */
  guard?(write: GuardedWrite<unknown>, holds: readonly [Hold, ...Hold[]]): Promise<unknown>;
}

/** The client of a hold, which registers there until it is freed: the client frees the lost ones too when it closes. */
interface HoldClient {
  readonly clock: Clock;
  readonly events: LockEventEmitter;
  readonly holds: OrderedSet<ClientHold>;
}

/**
 * One grant of one lock, shared by the lease that acquired it and the leases that re-entered it.
 *
 * Invariants:
 * - The backend's `free` runs once, when the last lease on the hold was released, lost or not.
 * - Its parts are in use as often as it is, unless it is lost: then nothing that runs under it keeps them from others.
 * - A lost hold stays lost. A withdrawn one is lost for its leases only: the backend goes on holding the lock.
 */
export class Hold<B extends HoldBackend = HoldBackend> {
  static readonly #released = Promise.resolve();
  /** Minimum hold time in ms since the grant, as far as the backend can ensure it. */
  atLeast = 0;
  /** Time of the grant, by the client's clock. */
  readonly heldSince: number;
  #leases = 0;
  /** Why its leases have ended: it was lost, or withdrawn. A text until somebody asks: an error costs ten times as much. */
  #lost?: LockLostError | string;
  #seen?: LossEvidence;
  /** Whether another client may hold the lock. */
  #isGone = false;
  /** Number of runs under it that have not ended. */
  #uses = 0;
  #idle?: (() => void)[];
  #freed?: Promise<void>;
  #losers?: Set<(error: LockLostError) => void>;
  #token?: Promise<bigint>;
  #endOfHold?: Timer;
  /** Takes it out of the holds of its client, which then does not free it when it closes. */
  readonly unregister?: () => void;

  constructor(
    readonly identity: LockIdentity,
    readonly context: LockErrorContext & { readonly key: string },
    readonly backend: B,
    private readonly method?: string, // of the acquire
    private readonly client?: HoldClient,
  ) {
    this.heldSince = this.#clock.now();
    this.unregister = client?.holds.add(this as unknown as ClientHold);
    EventLoopStalls.shared.begin();
  }

  /** The lock as described in events. */
  get subject(): LockSubject {
    const { identity, context, method } = this;
    return lockSubject(context.key, identity.recipe, method);
  }

  get isLive(): boolean {
    this.#checkClock();
    return this.#freed === undefined && this.#lost === undefined;
  }

  /** Whether its leases have ended although it is held. */
  get isWithdrawn(): boolean {
    return this.#lost !== undefined && !this.#isGone;
  }

  /** Whether work runs under it, and others are kept out. */
  get isInUse(): boolean {
    return this.#uses > 0 && !this.#isGone;
  }

  /** Why the hold is lost or withdrawn, if it is; each read checks the clock first. */
  get lost(): LockLostError | undefined {
    this.#checkClock();
    const why = this.#lost;
    if (typeof why !== 'string') return why;
    return (this.#lost = new LockLostError(why, this.context, this.#seen));
  }

  /** Adds a lease to this hold. */
  retain(): void {
    this.#leases += 1;
  }

  /** Notifies every lease, once, that another client may hold the lock. */
  markLost(why: string): void {
    if (this.#isGone || this.#freed !== undefined) return;
    this.#isGone = true;
    const stall = EventLoopStalls.shared.longestWithin(this.#heldMs);
    this.#seen = { stall, confirmedAgoMs: this.backend.confirmedAgoMs };
    for (let uses = this.#uses; uses > 0; uses--) this.#forParts((part) => part.endUse());
    EventLoopStalls.shared.end();
    const endLeases = this.#endLeases(why);
    // Listeners run outside any lease scope: the loss may be detected inside the scope of another lease.
    LeaseScope.runOutside(() => {
      this.backend.lost(this);
      if (this.client?.events.isHeard('lost')) {
        const isIts = this.#lost === why;
        const error = isIts ? this.lost! : new LockLostError(why, this.context, this.#seen);
        this.client.events.emit('lost', { ...this.subject, heldMs: this.#heldMs, error });
      }
      endLeases();
    });
    this.#becomeIdle();
  }

  /** Ends every lease with a `LockLostError`, but keeps the lock: work that goes on excludes others until `release`. */
  withdraw(why: string): void {
    if (this.#freed === undefined) LeaseScope.runOutside(this.#endLeases(why));
  }

  /** Work under it begins; call `endUse` when that has ended. */
  use(): void {
    this.#uses += 1;
    if (!this.#isGone) this.#forParts((part) => part.use());
  }

  endUse(): void {
    this.#uses -= 1;
    if (this.#uses === 0) this.#becomeIdle();
    if (!this.#isGone) this.#forParts((part) => part.endUse());
  }

  /** Resolves when no work runs under it, or when it is lost. */
  async idle(): Promise<void> {
    while (this.isInUse) await new Promise<void>((resolve) => (this.#idle ??= []).push(resolve));
  }

  /** Calls the listener when the hold is lost; the returned function removes it. */
  onLost(tell: (error: LockLostError) => void): () => void {
    (this.#losers ??= new Set()).add(tell);
    return () => void this.#losers?.delete(tell);
  }

  fencingToken(): Promise<bigint> {
    this.#token ??= this.backend.fencingToken(this).catch((error) => {
      this.#token = undefined; // the next call retries
      throw error;
    });
    return this.#token;
  }

  /** Emits `released`: the lock is free now. */
  emitReleased(): void {
    if (this.client?.events.isHeard('released'))
      this.client.events.emit('released', Object.assign(this.subject, { heldMs: this.#heldMs }));
  }

  /** Removes a lease; the last one frees the lock. */
  release(): Promise<void> {
    this.#leases -= 1;
    return this.#leases > 0 ? Hold.#released : this.free();
  }

  /** Marks the hold as lost for all its leases, and frees the lock. */
  revoke(why: string): Promise<void> {
    this.markLost(why);
    return this.free();
  }

  /** Calls `revoke` after `ms` milliseconds, unless the lock is free by then. */
  revokeAfter(ms: number, why: string): void {
    this.#endOfHold = this.#clock.setTimer(() => void this.revoke(why), ms, true);
  }

  /** Frees the lock, whatever leases are left. */
  free(): Promise<void> {
    this.#endOfHold?.cancel();
    this.#checkClock();
    this.#freed ??= this.#release(this.#isGone);
    this.#losers = undefined;
    return this.#freed;
  }

  /** Ends its leases now, and returns what notifies their holders; that does nothing if they have ended before. */
  #endLeases(why: string): () => void {
    if (this.#lost !== undefined) return () => {};
    this.#lost = why;
    const losers = this.#losers;
    this.#losers = undefined;
    return () => losers?.forEach((listener) => listener(this.lost!));
  }

  /** An event may come late. */
  #checkClock(): void {
    if (!this.#isGone && this.#freed === undefined && !this.backend.isExclusive())
      this.markLost('its session or its lease may have expired on the servers');
  }

  #forParts(each: (part: Hold) => void): void {
    this.backend.parts?.forEach(each);
  }

  #becomeIdle(): void {
    for (const resolve of this.#idle?.splice(0) ?? []) resolve();
  }

  #release(wasLost: boolean): Promise<void> {
    this.unregister?.();
    if (!wasLost) EventLoopStalls.shared.end();
    const freeing = this.backend.free(wasLost, this);
    if (freeing === undefined && !this.client?.events.isHeard('released')) return Hold.#released;
    return (freeing ?? Hold.#released).then((outcome) => {
      if (!wasLost && outcome !== 'kept') this.emitReleased();
    });
  }

  get #clock(): Clock {
    return this.client?.clock ?? this.backend.clock ?? systemClock;
  }

  get #heldMs(): number {
    return this.#clock.now() - this.heldSince;
  }
}

/** A lock that a client holds; its backend knows the server-side ids of the holders, and the token if that costs no request. */
export type ClientHold = Hold<
  HoldBackend & { readonly holders: readonly string[]; readonly knownToken?: bigint }
>;
