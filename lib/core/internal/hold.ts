import { type Clock, systemClock, type Timer } from '../clock.js';
import { type LockErrorContext, LockLostError } from '../errors/index.js';
import { type LockSubject, lockSubject } from '../lock-events.js';
import type { LockIdentity } from '../lock.js';
import { LeaseScope } from './lease-scope.js';

/** What a backend does for a lock it has granted. */
export interface HoldBackend {
  /** May the lock still be exclusive? Asked of the clock now, not of an event that may come late. */
  isExclusive(): boolean;
  fencingToken(): Promise<bigint>;
  /** The lock may be somebody else's from now on; called at most once. */
  lost(error: LockLostError): void;
  /** Gives the lock back, not before `atLeast` of its hold; called at most once, and never rejects. */
  free(): Promise<void>;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

/**
 * One grant of one lock, shared by the lease that acquired it and the leases that re-entered it.
 *
 * Invariant: the backend's `free` runs once, when the last lease on the hold was released, lost or not.
 * A lost hold stays lost: nothing revives it.
 */
export class Hold<B extends HoldBackend = HoldBackend> {
  /**
   * Whoever gives it back: nobody else gets the lock before so many ms have passed since the grant, as far as the backend can
   * see to that.
   */
  atLeast = 0;
  #leases = 0;
  #lost?: LockLostError;
  #freed?: Promise<void>;
  #losers?: Set<(error: LockLostError) => void>;
  #token?: Promise<bigint>;
  #endOfHold?: Timer;

  constructor(
    readonly identity: LockIdentity,
    readonly context: LockErrorContext & { readonly key: string },
    readonly backend: B,
    /** Who asked for it. */
    private readonly method?: string,
  ) {}

  /** What events tell of it. */
  get subject(): LockSubject {
    const { identity, context, method } = this;
    return lockSubject(context.key, identity.recipe, method);
  }

  get isLive(): boolean {
    return this.#freed === undefined && this.lost === undefined;
  }

  /** Why the hold is lost, if it is; the clock is asked before the answer. */
  get lost(): LockLostError | undefined {
    if (this.#lost === undefined && this.#freed === undefined && !this.backend.isExclusive())
      this.markLost('its session or its lease may be over on the servers');
    return this.#lost;
  }

  /** One more lease on this hold. */
  retain(): void {
    this.#leases += 1;
  }

  /** Tells every lease, once, that the lock may be somebody else's. */
  markLost(why: string): void {
    if (this.#lost !== undefined || this.#freed !== undefined) return;
    const error = (this.#lost = new LockLostError(why, this.context));
    const losers = [...(this.#losers ?? [])];
    this.#losers = undefined;
    // Listeners run in no lease's scope: the loss may be detected inside of another one's.
    LeaseScope.runOutside(() => {
      this.backend.lost(error);
      for (const tell of losers) tell(error);
    });
  }

  /** Calls `tell` when the hold is lost; the returned function takes that back. */
  onLost(tell: (error: LockLostError) => void): () => void {
    this.#losers ??= new Set();
    this.#losers.add(tell);
    return () => void this.#losers?.delete(tell);
  }

  fencingToken(): Promise<bigint> {
    this.#token ??= this.backend.fencingToken().catch((error) => {
      this.#token = undefined; // the next call asks again
      throw error;
    });
    return this.#token;
  }

  /** One lease less; the last one frees the lock. */
  release(): Promise<void> {
    this.#leases -= 1;
    return this.#leases > 0 ? Promise.resolve() : this.#free();
  }

  /** Takes the lock away from its leases, and frees it. */
  revoke(why: string): Promise<void> {
    this.markLost(why);
    return this.#free();
  }

  /** Takes it away as `revoke` does, in so many ms, unless it is free by then. */
  revokeAfter(ms: number, why: string): void {
    const { clock = systemClock } = this.backend;
    this.#endOfHold = clock.setTimer(() => void this.revoke(why), ms, true);
  }

  #free(): Promise<void> {
    this.#endOfHold?.cancel();
    this.#freed ??= this.backend.free();
    this.#losers = undefined;
    return this.#freed;
  }
}

/** A lock that a client holds. */
export type ClientHold = Hold<
  HoldBackend & {
    /** Time of the grant by the client's clock. */
    readonly heldSince: number;
    /** Who holds, as the servers know it. */
    readonly holders: readonly string[];
    /** The fencing token, where no question is needed. */
    readonly knownToken?: bigint;
  }
>;
