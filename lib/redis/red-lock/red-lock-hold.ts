import type { PeerDeadlocks } from '../../core/deadlocks/peer-deadlocks.js';
import { LockConnectionError } from '../../core/errors/index.js';
import type { AcquireContext } from '../../core/internal/acquire.js';
import type { Candidate } from '../../core/internal/client-lifecycle.js';
import { emitIfEndangered } from '../../core/internal/endangered.js';
import { type ClientHold, Hold, type HoldBackend } from '../../core/internal/hold.js';
import { settleWithin } from '../../core/internal/timers.js';
import type { OrderedSet } from '../../core/collections/ordered-set.js';
import type { LockIdentity, LockScope, Wait } from '../../core/lock.js';
import type { LocalQueues } from '../locks/local-queue.js';
import type { RedisLease } from '../locks/redis-lease.js';
import { type Ballot, firstN } from './ballot.js';

/** State that one client shares with all of its locks. Its identity is the scope of re-entry. Times are in milliseconds. */
export interface RedLockContext extends AcquireContext, LockScope {
  /** Number of servers that must grant a lock. */
  readonly majority: number;
  readonly servers: number;
  /** Bound on one request to one server. */
  readonly nodeTimeout: number;
  /** Bound on what a majority is asked for outside of an acquire. */
  readonly connectTimeout: number;
  /** Default bound on the wait of an acquire. */
  readonly wait: Wait;
  /** Current holds. */
  readonly holds: OrderedSet<ClientHold>;
  /** Participants of elections. */
  readonly candidates: OrderedSet<Candidate>;
  /** Acquires of this process, by lock: only the first in each local queue asks the servers. */
  readonly lines: LocalQueues;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  accepts: 'all' | 'nested' | 'none';
  /** Deadlocks with other processes. */
  deadlocks: PeerDeadlocks | undefined;
}

/**
 * A lock that is held on a majority of the servers.
 *
 * Invariant: it is exclusive as long as a majority of the leases is, each by the clock of this process and less the drift
 * (`driftAdjustedDeadline`): any other majority has a server in common with it. A late lease joins the hold, or is released.
 */
export class RedLockHold implements HoldBackend {
  readonly hold: Hold<RedLockHold>;
  /** Fencing token, once it was fetched. */
  knownToken?: bigint;
  readonly #leases: RedisLease[] = [];
  readonly #stopListening: (() => void)[] = [];
  /** One of its leases is endangered; the lock is as soon as no majority is safe. */
  readonly #warn = () => {
    const was = this.#wasEndangered;
    this.#wasEndangered = this.safeForMs !== undefined;
    if (!was) emitIfEndangered(this.context.events, this.hold);
  };
  #isOver = false;
  #wasEndangered = false;

  /**
   * @param ballot the ballot that was won
   * @param ended called when the lock is free or lost, perhaps twice
   */
  constructor(
    private readonly context: RedLockContext,
    identity: LockIdentity,
    readonly key: string,
    private readonly ballot: Ballot,
    private readonly ended: () => void,
    method?: string,
  ) {
    this.hold = new Hold(identity, { key, client: context.client }, this, method, context);
    ballot.onGrant((lease) => this.#add(lease));
  }

  #add(lease: RedisLease): void {
    if (this.#isOver) return this.#release(lease); // a minimum hold time may apply to it, too
    this.#leases.push(lease);
    this.#stopListening.push(lease.hold.onLost(() => this.#check()));
    lease.hold.backend.onEndangered = this.#warn;
  }

  get holders(): readonly string[] {
    return this.#leases.map(({ holder }) => holder);
  }

  isExclusive(): boolean {
    return this.#held.length >= this.context.majority;
  }

  /** That of the majority of its leases that was confirmed last. */
  get confirmedAgoMs(): number | undefined {
    const ago = this.#held.map(({ hold }) => hold.backend.confirmedAgoMs).sort((a, b) => a - b);
    return ago[this.context.majority - 1];
  }

  get safeForMs(): number | undefined {
    const safe = this.#held.filter(({ hold }) => hold.backend.safeForMs === undefined);
    return safe.length < this.context.majority ? this.remaining() : undefined;
  }

  /** Milliseconds until a majority of the leases is no longer safe, unless they are renewed. */
  remaining(): number {
    const left = this.#leases.map((lease) => lease.remaining()).sort((a, b) => b - a);
    return left[this.context.majority - 1] ?? 0;
  }

  /**
   * Greater than the token of every earlier holder: a token is returned only after the counters of a majority are not below
   * it, and the next holder's majority has one of them (the two phases of an atomic register, Attiya, Bar-Noy and Dolev 1995).
   */
  async fencingToken(): Promise<bigint> {
    const tokens = await this.#ofMajority((lease) => lease.fencingToken());
    const token = tokens.reduce((greatest, next) => (next > greatest ? next : greatest));
    await this.#ofMajority((lease) => lease.hold.backend.raiseToken(token));
    this.knownToken = token;
    return token;
  }

  lost(): void {
    this.#giveBack(); // the remaining leases exclude no one
    this.ended();
  }

  /** Resolves when a majority has released it, as far as they are connected; the others are released in the background. */
  async free(): Promise<void> {
    this.#giveBack();
    const connected = this.#leases.filter(({ hold }) => hold.backend.isReady);
    const released = connected.map((lease) => lease.release());
    await firstN(Math.min(this.context.majority, released.length), released);
    this.ended();
  }

  get #held(): RedisLease[] {
    return this.#leases.filter(({ isHeld }) => isHeld);
  }

  #check(): void {
    const { majority, servers } = this.context;
    if (this.isExclusive()) return;
    this.hold.markLost(
      `fewer than ${majority} of the ${servers} servers still hold it for this client`,
    );
  }

  async #ofMajority<T>(ask: (lease: RedisLease) => Promise<T>): Promise<T[]> {
    const { majority, client, clock, connectTimeout } = this.context;
    const asked = firstN(majority, this.#held.map(ask));
    const answers = (await settleWithin(connectTimeout, clock, asked)) ?? [];
    const { lost } = this.hold;
    if (lost) throw lost;
    if (answers.length >= majority) return answers;
    throw new LockConnectionError(
      `Fewer than ${majority} servers reported the fencing token of lock "${this.key}" of client "${client}". Request it again.`,
      { key: this.key, client },
    );
  }

  /** Stops listening and releases all leases, which ends their renewal. */
  #giveBack(): void {
    this.#isOver = true;
    for (const stop of this.#stopListening.splice(0)) stop();
    for (const lease of this.#leases) this.#release(lease);
    // The next acquire must not queue behind requests to slow servers, unless the lock is held for its `atLeast`.
    if (this.hold.atLeast === 0) this.ballot.stopAsking();
  }

  #release(lease: RedisLease): void {
    const { hold } = lease;
    if (this.hold.atLeast > 0)
      hold.atLeast = this.hold.atLeast + this.hold.heldSince - hold.heldSince;
    void lease.release();
  }
}
