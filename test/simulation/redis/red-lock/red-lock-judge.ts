import { LockError } from '../../../../lib/core/errors/index.js';
import type { RedLockLease } from '../../../../lib/redis/red-lock/red-lock.js';
import type { RedLockProcess } from './red-lock-process.js';
import { RedLockReturns } from './red-lock-returns.js';
import type { RedLockWorld } from './red-lock-world.js';

/** One call of `acquire` or `tryAcquire`, as its caller sees it. */
export interface RedLockRequest {
  readonly id: number;
  readonly client: RedLockProcess;
  readonly isTry: boolean;
  readonly wait: number | undefined;
  readonly startedAt: number;
  abortedAt?: number;
}

interface RedLockGrant {
  readonly id: number;
  readonly client: RedLockProcess;
  readonly lease: RedLockLease;
  /** Whether a server has forgotten it within its lease, which is not promised to be harmless. */
  isForgotten: boolean;
}

/**
 * The longest that a free lock is not taken although some wait for it, in ms: waiters that block each other ask again after a round
 * of 1.5 s for each server, and a random pause.
 */
const PATIENCE = 15_000;

/** Compares what the users of one lock on several servers see with what is promised. */
export class RedLockJudge {
  readonly requests = new Set<RedLockRequest>();
  readonly grants = new Set<RedLockGrant>();
  /** Since when nothing that faults have left is in the way. */
  strictSince = Infinity;
  /** Whether a majority of the servers works, and each client is as well as it: then a lock works as without faults. */
  isMajorityWell = false;
  readonly #returns: RedLockReturns;
  #lastId = 0;
  #token = 0n;
  #freeSince?: number | undefined;

  constructor(
    private readonly world: RedLockWorld,
    private readonly key: string,
  ) {
    this.#returns = new RedLockReturns(world.servers, key, (what) => this.accuse(what));
  }

  began(client: RedLockProcess, isTry: boolean, wait?: number): RedLockRequest {
    const request = { id: ++this.#lastId, client, isTry, wait, startedAt: this.#now };
    this.requests.add(request);
    this.#note(isTry ? 'tried' : 'asked', `${request.id}: ${this.key} by ${client.name}`);
    return request;
  }

  granted(request: RedLockRequest, lease: RedLockLease): RedLockGrant {
    this.requests.delete(request);
    const { id, client } = request;
    const grant: RedLockGrant = { id, client, lease, isForgotten: false };
    this.#note('granted', `${id}`);
    if (lease.signal.aborted) return grant;
    this.grants.add(grant);
    lease.signal.addEventListener('abort', () => {
      this.grants.delete(grant);
      this.#note('lost', `${id}: ${String((lease.signal.reason as Error).message)}`);
      if (this.#isUndisturbed && client.closedAt === undefined)
        this.accuse(`${id} is lost, although a majority of the servers is well`);
    });
    this.check();
    return grant;
  }

  refused(request: RedLockRequest): void {
    this.requests.delete(request);
    this.#note('refused', `${request.id}`);
    if (this.#isUndisturbed)
      this.accuse(`request ${request.id} is refused, although nobody else wants ${this.key}`);
  }

  failed(request: RedLockRequest, error: unknown): void {
    this.requests.delete(request);
    const { id, client, wait, isTry, abortedAt, startedAt } = request;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = [
      ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(startedAt < this.strictSince && !this.isMajorityWell ? ['LOCK_CONNECTION'] : []),
    ];
    if (!reasons.includes(code)) this.accuse(`request ${id} fails with ${code}: ${String(error)}`);
    this.#note(`failed with ${code}`, `${id}`);
  }

  fenced({ id, lease, isForgotten }: RedLockGrant, token: bigint): void {
    if (isForgotten || !lease.isHeld) return;
    if (token <= this.#token) this.accuse(`${id} has the token ${token} after ${this.#token}`);
    this.#token = token;
    this.#note('fenced', `${id}: ${token}`);
  }

  releasing(grant: RedLockGrant): void {
    if (this.grants.delete(grant)) this.#note('released', `${grant.id}`);
  }

  /** A server has lost what it had, and is back late enough. */
  lostData(): void {
    this.#returns.lostData();
  }

  /** It has lost the counter of tokens, too. */
  forgotToken(): void {
    this.#token = 0n;
  }

  /** A server is back without the lock, too early: those that have it now may have company. */
  forgot(): void {
    this.lostData();
    this.forgotToken();
    for (const grant of this.grants) grant.isForgotten = true;
  }

  /** All that was under way has arrived: what no user has, or waits for, is not to be on any server. */
  expectFree(): void {
    const { servers } = this.world;
    if (this.grants.size > 0 || this.#isWanted || servers.isFree(this.key)) return;
    this.accuse(`${this.key} is on a server, and nobody has it`);
  }

  /** Call it after every event. @throws when a promise is broken */
  check(): void {
    const { world, key } = this;
    const { servers } = world;
    const holders: number[] = [];
    for (const { id, client, lease, isForgotten } of [...this.grants]) {
      if (!client.process.isRunning || !lease.isHeld || isForgotten) continue;
      holders.push(id);
      const { holders: ids } = lease.hold.backend;
      if (servers.keeping(key, ids, lease.remaining()) < servers.majority)
        this.accuse(`${id} believes that it is held, and no majority keeps it for so long`);
    }
    if (holders.length > 1) this.accuse(`${key} has too many holders: ${holders.join()}`);
    this.#checkProgress();
    world.history.throwIfAccused();
  }

  accuse(what: string): void {
    this.world.history.accuse(what);
  }

  #checkProgress(): void {
    const isFree = this.#isWanted && this.world.servers.isFree(this.key);
    this.#freeSince = isFree ? (this.#freeSince ?? this.#now) : undefined;
    if (this.#freeSince === undefined) return;
    const since = Math.max(this.#freeSince, this.strictSince);
    if (this.#now - since > PATIENCE)
      this.accuse(`${this.key} is free, and its waiters are forgotten`);
  }

  /** Where several have asked, each may have got some of the servers; a holder with a bare majority loses the lock with any of these. */
  get #isUndisturbed(): boolean {
    return this.isMajorityWell && this.#lastId === 1;
  }

  get #isWanted(): boolean {
    return [...this.requests].some(
      ({ isTry, client, abortedAt }) =>
        !isTry && abortedAt === undefined && client.process.isRunning,
    );
  }

  get #now(): number {
    return this.world.clock.now();
  }

  #note(kind: string, details: string): void {
    this.world.history.note(kind, details);
  }
}
