import { LockError } from '../../../../lib/core/errors/index.js';
import type { Lease } from '../../../../lib/core/lease.js';
import type { RedisLease } from '../../../../lib/redis/locks/redis-lease.js';
import type { ObservedLock } from './observed-locks.js';
import { OrderRule } from './order-rule.js';
import { ProgressRule } from './progress-rule.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';
import { ReturnRule } from './return-rule.js';
import { Standings } from './standings.js';

/** One call of `acquire` or `tryAcquire`, as its caller sees it. */
export interface Request {
  readonly id: number;
  readonly client: RedisProcess;
  readonly lock: ObservedLock;
  readonly isTry: boolean;
  readonly wait: number | undefined;
  readonly startedAt: number;
  abortedAt?: number;
}

/** A grant, as its caller sees it. */
export interface ObservedHold {
  readonly id: number;
  readonly client: RedisProcess;
  readonly lock: ObservedLock;
  readonly lease: RedisLease;
  readonly isRenewed: boolean;
  /** The longest lease that it may have, in ms. */
  longest: number;
  /** When an operator or a failover has taken it from the server: until it is lost, it excludes no other. */
  takenAt?: number | undefined;
}

/** The longest that a client takes to notice that the server does not know its hold, beside a third of the lease, in ms. */
const NOTICE = 2_000;

/** A client that finds out late that its primary was demoted takes that for the reason of what fails then, for so long, in ms. */
const REMEMBERED = 2_000;

/** Compares what the users of the locks see with what is promised, and with what the server has. */
export class RedisJudge {
  readonly requests = new Set<Request>();
  readonly holds = new Set<ObservedHold>();
  /** Since when a free lock is taken at once if it is wanted: nothing that faults have left is in the way. */
  strictSince = Infinity;
  /** When the servers last forgot what they had answered. */
  lostDataAt = -Infinity;
  #lastId = 0;
  /** By the names of the locks. */
  readonly #tokens = new Map<string, bigint>();
  /** How many guarded writes have begun, by the keys of the locks. */
  readonly #writes = new Map<string, number>();
  /** Names of the locks that operators are about to take away. */
  readonly #takings: string[] = [];
  /** Holders that have gone from the server meanwhile; some do not know yet that they were granted it. */
  readonly #taken = new Set<string>();

  readonly #returns: ReturnRule;
  readonly #order: OrderRule;
  readonly #progress: ProgressRule;
  #standings?: Standings;

  constructor(private readonly world: RedisWorld) {
    this.#returns = new ReturnRule(world);
    this.#order = new OrderRule(world);
    this.#progress = new ProgressRule(world);
    world.servers.onCommand = () => this.#progress.expected(this.requests);
    world.servers.onChange = (keys) => {
      this.#standings?.changed(keys, world.servers.keyspace);
      this.#progress.changed(keys, this.requests);
    };
  }

  /** These locks are used from now on. */
  watch(locks: readonly ObservedLock[]): void {
    const byName = new Map(locks.map((lock) => [lock.name.redisKey, lock]));
    this.#standings = new Standings([...byName.values()], (lock, before, after) => {
      const { redisKey } = lock.name;
      const isTaken = this.#takings.includes(redisKey);
      if (isTaken) for (const holder of before.holders.keys()) this.#taken.add(holder);
      for (const holder of after.holders.keys()) this.#taken.delete(holder);
      this.#returns.changed(before, after, isTaken);
      if (lock.isFair) this.#order.changed(redisKey, before, after);
    });
  }

  began(client: RedisProcess, lock: ObservedLock, isTry: boolean, wait?: number): Request {
    const id = ++this.#lastId;
    const request: Request = { id, client, lock, isTry, wait, startedAt: this.#now };
    this.requests.add(request);
    this.#note(isTry ? 'tried' : 'asked', `${id}: ${lock.title} by ${client.name}`);
    return request;
  }

  granted(request: Request, lease: Lease, isRenewed: boolean): ObservedHold {
    this.requests.delete(request);
    const { id, client, lock } = request;
    const longest = client.watchdogTimeout;
    const hold: ObservedHold = { id, client, lock, lease: lease as RedisLease, isRenewed, longest };
    this.#note('granted', `${id} as ${hold.lease.holder}`);
    if (lease.signal.aborted) {
      this.#note('lost on arrival', `${id}`);
      return hold;
    }
    this.holds.add(hold);
    lease.signal.addEventListener('abort', () => {
      this.holds.delete(hold);
      this.#note('lost', `${id}: ${String((lease.signal.reason as Error).message)}`);
    });
    this.check();
    return hold;
  }

  refused(request: Request): void {
    this.requests.delete(request);
    this.#note('refused', `${request.id}`);
  }

  failed(request: Request, error: unknown): void {
    this.requests.delete(request);
    const { id, client, wait, isTry, abortedAt, startedAt } = request;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = [
      ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(startedAt < Math.max(this.strictSince, client.connectedAt + REMEMBERED)
        ? ['LOCK_CONNECTION']
        : []),
    ];
    if (!reasons.includes(code)) this.accuse(`request ${id} fails with ${code}: ${String(error)}`);
    this.#note(`failed with ${code}`, `${id}`);
  }

  writing(key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1);
  }

  /** A guarded write has counted one more. */
  wrote(key: string, count: number): void {
    const begun = this.#writes.get(key)!;
    if (count > begun) this.accuse(`${begun} guarded writes under ${key} have counted ${count}`);
    this.#note('wrote', `${key}: ${count}`);
  }

  extending(hold: ObservedHold, length: number): void {
    hold.longest = Math.max(hold.longest, length);
    this.#note('extended', `${hold.id}: ${length}`);
  }

  releasing(hold: ObservedHold): void {
    if (this.holds.delete(hold)) this.#note('released', `${hold.id}`);
  }

  fenced({ id, lock, takenAt, lease }: ObservedHold, token: bigint): void {
    const last = this.#tokens.get(lock.name.redisKey) ?? 0n;
    if (takenAt !== undefined || !lease.isHeld) return;
    if (token <= last) this.accuse(`hold ${id} has the token ${token} after ${last}`);
    this.#tokens.set(lock.name.redisKey, token);
    this.#note('fenced', `${id}: ${token}`);
  }

  /** An operator takes the lock from its holders, from now on until the returned function is called. */
  taking(name: string): () => void {
    this.#takings.push(name);
    return () => {
      for (const hold of this.holds) this.#mayBeTaken(hold);
      this.#takings.splice(this.#takings.indexOf(name), 1);
    };
  }

  /** The servers have forgotten the last changes. */
  lostData(): void {
    this.lostDataAt = this.#now;
    this.#tokens.clear();
    this.#standings?.lostData(this.world.servers.keyspace);
    for (const rule of [this.#returns, this.#order]) rule.lostData();
    for (const hold of this.holds) this.#mayBeTaken(hold);
  }

  /** Call it after every event. @throws when a promise is broken */
  check(): void {
    const taken = new Map<string, number>();
    for (const hold of [...this.holds]) {
      if (!this.#speaks(hold)) continue;
      if (this.world.isAsking && !hold.lease.isHeld) continue; // its signal aborts now
      this.#checkHold(hold);
      if (hold.takenAt !== undefined) continue;
      const { share, name } = hold.lock;
      const sum = (taken.get(name.redisKey) ?? 0) + share;
      taken.set(name.redisKey, sum);
      if (sum > 1 + 1e-9) this.accuse(`${name.redisKey} has too many holders, ${hold.id} is one`);
    }
    this.#progress.check(this.requests);
    this.world.history.throwIfAccused();
  }

  accuse(what: string): void {
    this.world.history.accuse(what);
  }

  #checkHold(hold: ObservedHold): void {
    const { id, client, isRenewed, longest } = hold;
    if (!this.#mayBeTaken(hold))
      this.accuse(`hold ${id} believes that it is held for longer than the server keeps it`);
    if (hold.takenAt === undefined || !isRenewed) return;
    const noticed = Math.max(hold.takenAt, client.calmSince) + longest / 3 + NOTICE;
    if (this.#now > noticed) this.accuse(`hold ${id} does not notice that it was taken`);
  }

  /** Whether the server has the hold, or may have had a reason to drop it; that is noted. */
  #mayBeTaken(hold: ObservedHold): boolean {
    if (this.#isKept(hold)) {
      hold.takenAt = undefined; // what was forgotten is its renewal, not the hold
      return true;
    }
    if (hold.takenAt !== undefined) return true;
    const { client, lease } = hold;
    const isForgotten = this.#now - this.lostDataAt < client.watchdogTimeout; // an answer from before may have come later
    if (!isForgotten && !this.#taken.has(lease.holder)) return false;
    hold.takenAt = this.#now;
    this.#note('taken', `hold ${hold.id}`);
    return true;
  }

  /** Whether the server keeps the hold for as long as the client relies on it. */
  #isKept({ lock, lease }: ObservedHold): boolean {
    const { servers } = this.world;
    const end = lock.endOf(servers.keyspace, lease);
    return end !== undefined && servers.timeAt(this.#now + lease.remaining()) <= end + 1;
  }

  /** A frozen process reports nothing; one that is not asked needs a turn of its own first. */
  #speaks({ client: { process } }: ObservedHold): boolean {
    return process.isRunning && (this.world.isAsking || process.thawedAt < this.#now);
  }

  get #now(): number {
    return this.world.clock.now();
  }

  #note(kind: string, details: string): void {
    this.world.history.note(kind, details);
  }
}
