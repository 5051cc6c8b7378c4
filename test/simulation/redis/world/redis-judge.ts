import { LockError } from '../../../../lib/core/errors/index.js';
import type { Lease } from '../../../../lib/core/lease.js';
import { MultiLease } from '../../../../lib/core/internal/multi-lease.js';
import type { RedisLease } from '../../../../lib/redis/locks/redis-lease.js';
import { AbandonedRule } from './abandoned-rule.js';
import type { AskedLock, ObservedLock } from './observed-locks.js';
import type { ObservedHold, Request } from './observed-calls.js';
import { watchWhole } from './multi-lock-rule.js';
import { EffectsRule } from './effects-rule.js';
import { watchEffort } from './effort-rule.js';
import { reasonsToFail } from './failure-reasons.js';
import { excluded, waitingForThemselves } from './exclusion-rules.js';
import { OrderRule } from './order-rule.js';
import { ProgressRule } from './progress-rule.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';
import { ReturnRule } from './return-rule.js';
import { Standings } from './standings.js';

/** The longest that a client takes to notice that the server does not know its hold, beside a third of the lease, in ms. */
const NOTICE = 2_000;

/** Compares what the users of the locks see with what is promised, and with what the server has. */
export class RedisJudge {
  readonly requests = new Set<Request>();
  readonly holds = new Set<ObservedHold>();
  /** Since when a free lock is taken at once if it is wanted: nothing that faults have left is in the way. */
  strictSince = Infinity;
  /** When the servers last forgot what they had answered. */
  lostDataAt = -Infinity;
  #lastId = 0;
  /** Names of the locks that operators are about to take away. */
  readonly #takings: string[] = [];
  /** Keys of the locks that may be kept. */
  readonly #keeping = new Set<string>();
  /** Holders that have gone from the server meanwhile, by the names; some do not know yet that they were granted it. */
  readonly #taken = new Map<string, Set<string>>();

  readonly effects: EffectsRule;
  readonly #abandoned: AbandonedRule;
  readonly #returns: ReturnRule;
  readonly #order: OrderRule;
  readonly #progress: ProgressRule;
  #standings?: Standings;

  constructor(private readonly world: RedisWorld) {
    this.effects = new EffectsRule(world);
    this.#abandoned = new AbandonedRule(world);
    this.#returns = new ReturnRule(world);
    this.#order = new OrderRule(world);
    this.#progress = new ProgressRule(world);
    watchEffort(world.servers, (what) => this.accuse(what));
    world.servers.onCommand = () => this.#progress.expected(this.requests);
    world.servers.onChange = (keys) => {
      this.#standings?.changed(keys, world.servers.keyspace);
      this.#progress.changed(keys, this.requests);
    };
  }

  /** These locks are used from now on. */
  watch(locks: readonly ObservedLock[]): void {
    for (const { name, mayBeKept } of locks) if (mayBeKept) this.#keeping.add(name.redisKey);
    const byName = new Map(locks.map((lock) => [lock.name.redisKey, lock]));
    this.#standings = new Standings([...byName.values()], (lock, before, after) => {
      const { redisKey } = lock.name;
      const isTaken = this.#takings.includes(redisKey);
      const taken = this.#taken.get(redisKey) ?? new Set();
      if (isTaken) for (const holder of before.holders.keys()) taken.add(holder);
      for (const holder of after.holders.keys()) taken.delete(holder);
      this.#taken.set(redisKey, taken);
      this.#returns.changed(redisKey, before, after, isTaken);
      if (lock.isFair) this.#order.changed(redisKey, before, after);
    });
  }

  /** @param inside what the caller holds */
  began(
    client: RedisProcess,
    lock: AskedLock,
    isTry: boolean,
    wait?: number,
    inside: readonly ObservedHold[] = [],
  ): Request {
    const id = ++this.#lastId;
    const request: Request = { id, client, lock, isTry, wait, inside, startedAt: this.#now };
    this.requests.add(request);
    this.#note(isTry ? 'tried' : 'asked', `${id}: ${lock.title} by ${client.name}`);
    return request;
  }

  /** Returns a hold for each part of the lock. */
  granted(request: Request, lease: Lease, isRenewed: boolean): ObservedHold[] {
    this.requests.delete(request);
    const leases = lease instanceof MultiLease ? lease.leases : [lease];
    const holds = request.lock.parts.map((lock, i) =>
      this.#held(request, lock, leases[i] as RedisLease, isRenewed),
    );
    const isKept = () => holds.some((hold) => this.holds.has(hold));
    if (lease instanceof MultiLease)
      watchWhole(lease, isKept, (what) => this.accuse(`the multi-lock ${request.id} ${what}`));
    this.check();
    return holds;
  }

  #held(
    { id, client, inside }: Request,
    lock: ObservedLock,
    lease: RedisLease,
    isRenewed: boolean,
  ): ObservedHold {
    const outer = inside.find(({ lock: { name } }) => name.redisKey === lock.name.redisKey);
    const longest = client.watchdogTimeout;
    const hold: ObservedHold = {
      id,
      client,
      lock,
      lease,
      isRenewed,
      longest,
      root: outer?.root ?? id,
    };
    this.#note('granted', `${id} as ${lease.holder}`);
    if (outer) this.#note('granted inside', `${id}`);
    this.#abandoned.granted(hold);
    if (lease.signal.aborted) {
      this.#note('lost on arrival', `${id}`);
      return hold;
    }
    this.holds.add(hold);
    lease.signal.addEventListener('abort', () => this.#lost(hold));
    return hold;
  }

  #lost(hold: ObservedHold): void {
    const { id, client, lease, longest } = hold;
    this.holds.delete(hold);
    const { message } = lease.signal.reason as Error;
    this.#note('lost', `${id}: ${message}`);
    const wasCalm = this.#now - client.calmSince > 0.9 * longest; // its renewal is due after a third
    if (wasCalm && message.includes('it could not be renewed') && !this.#wasTaken(hold))
      this.accuse(`hold ${id} is lost, although its client could renew it`);
  }

  /** What was asked for is over, without a hold. */
  ended(request: Request, how: string): void {
    this.requests.delete(request);
    this.#note(how, `${request.id}`);
  }

  failed(request: Request, error: unknown): void {
    this.requests.delete(request);
    const { id } = request;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = reasonsToFail(request, this.strictSince);
    if (!reasons.includes(code)) this.accuse(`request ${id} fails with ${code}: ${String(error)}`);
    this.#note(`failed with ${code}`, `${id}`);
  }

  extending(hold: ObservedHold, length: number): void {
    for (const one of this.holds)
      // those inside have the same lease
      if (one.lease.hold === hold.lease.hold) one.longest = Math.max(one.longest, length);
    this.#note('extended', `${hold.id}: ${length}`);
  }

  releasing(hold: ObservedHold): void {
    if (!this.holds.delete(hold)) return;
    this.#abandoned.released(hold);
    this.#note('released', `${hold.id}`);
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
    this.#standings?.lostData(this.world.servers.keyspace);
    for (const rule of [this.effects, this.#returns, this.#order]) rule.lostData();
    for (const hold of this.holds) this.#mayBeTaken(hold);
  }

  /** Call it after every event. @throws when a promise is broken */
  check(): void {
    const excluding = [...this.holds].filter((hold) => {
      if (!this.#speaks(hold)) return false;
      if (this.world.isAsking && !hold.lease.isHeld) {
        const isLost = !this.holds.has(hold); // its signal has aborted now
        if (!isLost) this.accuse(`hold ${hold.id} has ended, and was neither released nor lost`);
        return false;
      }
      this.#checkHold(hold);
      return hold.takenAt === undefined;
    });
    const rules = [
      ...excluded(excluding, this.world.servers.keyspace),
      ...waitingForThemselves(this.requests, this.#now),
    ];
    for (const violation of rules) this.accuse(violation);
    this.#progress.check(this.requests);
    if (this.#standings) this.#abandoned.check(this.#standings.all, (key) => this.#mayBeKept(key));
    this.world.history.throwIfAccused();
  }

  accuse(what: string): void {
    this.world.history.accuse(what);
  }

  /** Whether a client may have that lock for none of its users. */
  #mayBeKept(key: string): boolean {
    const isOf = (lock: ObservedLock) => lock.name.redisKey === key;
    const waits = ({ lock, isTry, abortedAt, client }: Request) =>
      lock.parts.some(isOf) && !isTry && abortedAt === undefined && !client.process.isDead;
    if (!this.#keeping.has(key) || [...this.requests].some(waits)) return false;
    return this.world.open.some(({ locks }) => locks.status().kept !== undefined);
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
    if (!this.#wasTaken(hold)) return false;
    hold.takenAt = this.#now;
    this.#note('taken', `hold ${hold.id}`);
    return true;
  }

  #wasTaken({ client, lock, lease }: ObservedHold): boolean {
    const isForgotten = this.#now - this.lostDataAt < client.watchdogTimeout; // an answer from before may have come later
    return isForgotten || this.#taken.get(lock.name.redisKey)?.has(lease.holder) === true;
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
