import { type Clock, systemClock, type Timer } from '../clock.js';
import { type LockErrorContext, LockLostError } from '../errors/index.js';
import { type LockSubject, lockSubject } from '../lock-events.js';
import type { LockIdentity } from '../lock.js';
import { LeaseScope } from './lease-scope.js';

/** Backend operations on a granted lock. */
export interface HoldBackend {
  /** Whether the lock may still be exclusive. Checks the clock now, since an event may come late. */
  isExclusive(): boolean;
  fencingToken(): Promise<bigint>;
  /** Called at most once, when another client may hold the lock from now on. */
  lost(error: LockLostError): void;
  /** Releases the lock, but not before `atLeast` of its hold; called at most once, and never rejects. */
  free(): Promise<void>;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

/**
 * One grant of one lock, shared by the lease that acquired it and the leases that re-entered it.
 *
 * Invariant: the backend's `free` runs once, when the last lease on the hold was released, lost or not.
 * A lost hold stays lost.
 */
export class Hold<B extends HoldBackend = HoldBackend> {
  /** Minimum hold time in ms since the grant, as far as the backend can ensure it: an earlier release is deferred. */
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
    /** The `method` of the acquire. */
    private readonly method?: string,
  ) {}

  /** The lock as described in events. */
  get subject(): LockSubject {
    const { identity, context, method } = this;
    return lockSubject(context.key, identity.recipe, method);
  }

  get isLive(): boolean {
    return this.#freed === undefined && this.lost === undefined;
  }

  /** Why the hold is lost, if it is; each read checks the clock first. */
  get lost(): LockLostError | undefined {
    if (this.#lost === undefined && this.#freed === undefined && !this.backend.isExclusive())
      this.markLost('its session or its lease may be over on the servers');
    return this.#lost;
  }

  /** Adds a lease to this hold. */
  retain(): void {
    this.#leases += 1;
  }

  /** Notifies every lease, once, that another client may hold the lock. */
  markLost(why: string): void {
    if (this.#lost !== undefined || this.#freed !== undefined) return;
    const error = (this.#lost = new LockLostError(why, this.context));
    const losers = [...(this.#losers ?? [])];
    this.#losers = undefined;
    // Listeners run outside any lease scope: the loss may be detected inside the scope of another lease.
    LeaseScope.runOutside(() => {
      this.backend.lost(error);
      for (const tell of losers) tell(error);
    });
  }

  /** Calls the listener when the hold is lost; the returned function removes it. */
  onLost(tell: (error: LockLostError) => void): () => void {
    this.#losers ??= new Set();
    this.#losers.add(tell);
    return () => void this.#losers?.delete(tell);
  }

  fencingToken(): Promise<bigint> {
    this.#token ??= this.backend.fencingToken().catch((error) => {
      this.#token = undefined; // the next call retries
      throw error;
    });
    return this.#token;
  }

  /** Removes a lease; the last one frees the lock. */
  release(): Promise<void> {
    this.#leases -= 1;
    return this.#leases > 0 ? Promise.resolve() : this.#free();
  }

  /** Marks the hold as lost for all its leases, and frees the lock. */
  revoke(why: string): Promise<void> {
    this.markLost(why);
    return this.#free();
  }

  /** Calls `revoke` after `ms` milliseconds, unless the lock is free by then. */
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
    /** Time of the grant, by the client's clock. */
    readonly heldSince: number;
    /** Server-side ids of the holders. */
    readonly holders: readonly string[];
    /** The fencing token, if known without a request. */
    readonly knownToken?: bigint;
  }
>;
