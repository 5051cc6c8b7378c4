import { exactNow, type Timer } from '../../core/clock.js';
import type { GuardedWrite } from '../../core/lease.js';
import { unlessLost } from '../../core/internal/timers.js';
import { emitIfEndangered } from '../../core/internal/endangered.js';
import { Hold, type HoldBackend } from '../../core/internal/hold.js';
import { reasonOf } from '../connection/redis-error.js';
import { HoldCheck, type Registration, type Renewable } from '../connection/renewal-schedule.js';
import type { RecipeContext } from '../recipe-context.js';
import { answerInTime } from './idempotent-requests.js';
import { GuardedWrites } from './guarded-writes.js';
import { type NextCaller, nextCallerOf } from './next-caller.js';
import type { LockCommands } from './lock-commands.js';
import { permitIdsOf } from '../semaphores/permit-holder.js';
import {
  buryCopies,
  driftAdjustedDeadline,
  letRunOut,
  nextToken,
  raiseToken,
  type RedisGrant,
  SharedFencingToken,
  tombstoneOf,
} from './redis-grant.js';

/** A held lock of this backend. */
export class RedisHold implements HoldBackend, Renewable {
  readonly hold: Hold<RedisHold>;
  lease: number;
  deadline: number;
  confirmedAt: number;
  /** Number of times that the lease was set anew. */
  extension = 0;
  /** Called when it becomes endangered. */
  onEndangered?: () => void;
  readonly endsAt: number;
  registration?: Registration;
  #extendedAt = -Infinity;
  #token?: SharedFencingToken;
  readonly #endOfHold?: Timer;
  #endOfLease?: Timer;
  #check?: HoldCheck;
  #writes?: GuardedWrites;
  readonly #next: NextCaller | undefined;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: LockCommands,
    readonly grant: RedisGrant,
  ) {
    const { method, sentAt, lease, maxHold } = grant;
    const { clock } = context;
    this.lease = lease;
    this.deadline = driftAdjustedDeadline(sentAt, lease);
    this.confirmedAt = sentAt;
    this.endsAt = clock.now() + (maxHold ?? Infinity);
    this.#watch();
    if (maxHold !== undefined) {
      const why = `it was held for longer than its maxHold of ${maxHold} ms`;
      this.#endOfHold = clock.setTimer(() => this.hold.markLost(why), maxHold, true);
    }
    this.hold = this.newHold(method);
    this.#next = nextCallerOf(context, commands, grant, this);
  }

  get #holds(): readonly Hold<RedisHold>[] {
    return (this.#next?.sharers as Hold<RedisHold>[] | undefined) ?? [this.hold];
  }

  get handOffs(): number | undefined {
    return this.#next?.handOffs;
  }

  newHold(method?: string): Hold<RedisHold> {
    const about = { key: this.grant.key, client: this.context.client };
    return new Hold(this.grant.identity, about, this, method, this.context);
  }

  get now(): number {
    return this.context.clock.now();
  }

  get confirmedAgoMs(): number {
    return this.now - Math.max(this.confirmedAt, this.#check?.confirmedAt ?? -Infinity);
  }

  get safeForMs(): number | undefined {
    const left = this.deadline - this.now;
    return this.grant.isRenewed && left <= this.lease / 2 ? left : undefined;
  }

  /** Id of the hold's owner on the server. */
  get holder(): string {
    return this.grant.holder;
  }

  get keys(): readonly [string, string] {
    return this.commands.renewalKeys(this.holder);
  }

  get field(): string | Buffer {
    return this.commands.fieldOf(this.holder);
  }

  get kind(): Renewable['kind'] {
    return this.commands.kind;
  }

  /** Of a semaphore the ids of its permits. */
  get holders(): readonly string[] {
    return this.kind === 'permits' ? permitIdsOf(this.holder) : [this.holder];
  }

  get isReady(): boolean {
    return this.context.connection.isReady;
  }

  isExclusive(): boolean {
    if (exactNow(this.context.clock) >= this.deadline) this.context.renewal.catchUp();
    return this.now < this.deadline;
  }

  /** Fencing token, shared with the readers inside of this hold. */
  get token(): SharedFencingToken {
    this.#token ??= this.grant.sharedToken ?? new SharedFencingToken(this.grant.token);
    return this.#token;
  }

  get knownToken(): bigint | undefined {
    return this.token.known;
  }

  fencingToken(hold: Hold): Promise<bigint> {
    return this.token.get(() => nextToken(this.context, this.commands, hold as Hold<RedisHold>));
  }

  guard(write: GuardedWrite<unknown>, holds: readonly [Hold, ...Hold[]]): Promise<unknown> {
    this.#writes ??= new GuardedWrites(this.context, this.commands.redisKey, this.holder);
    return this.#writes.run(write, holds as [Hold<RedisHold>]);
  }

  /** Ensures that no later holder gets a token below `token`; rejects if the lock is not held, or there is no answer. */
  raiseToken(token: bigint): Promise<void> {
    return raiseToken(this.context, this.commands, this.hold, token);
  }

  /** Sets the lease to `lease` ms from now; also resolves if the lock is lost meanwhile. */
  async extend(lease: number, hold: Hold): Promise<void> {
    const sentAt = this.context.clock.now();
    this.#extendedAt = sentAt;
    this.lease = lease;
    this.deadline = Math.min(this.deadline, driftAdjustedDeadline(sentAt, lease)); // it may take effect without an answer
    this.extension += 1;
    this.#watch();
    const { keys, field, kind, extension } = this;
    const renewal = { keys, field, kind, lease, extension, isExtension: true };
    const renewed = this.context.renewal.renewOne(renewal);
    const isHeld = await answerInTime(this.context, hold.context, unlessLost(hold, renewed));
    if (!hold.isLive) return;
    if (!isHeld) return this.gone();
    this.renewed(sentAt, lease);
    this.#watch();
  }

  renewed(sentAt: number, lease: number): void {
    const isOld = sentAt < Math.max(this.#extendedAt, this.confirmedAt) || lease !== this.lease;
    if (isOld) return; // another lease was requested since, and may already be in force, or a later renewal was confirmed
    this.deadline = driftAdjustedDeadline(sentAt, lease);
    this.confirmedAt = sentAt;
  }

  overdue(): void {
    for (const hold of this.#holds) emitIfEndangered(this.context.events, hold);
    this.onEndangered?.();
  }

  gone(): void {
    this.#lose('it is no longer on the server: it was removed by force, or forgotten');
  }

  expired(): void {
    if (!this.grant.isRenewed) return this.#lose(`its lease of ${this.lease} ms is about to end`);
    const { trouble } = this.context.connection;
    const why = trouble ? `: ${reasonOf(trouble.message)}` : '';
    this.#lose(`it could not be renewed in time, and its lease is about to end${why}`);
  }

  #lose(why: string): void {
    for (const hold of this.#holds) hold.markLost(why);
  }

  lost(hold: Hold): void {
    hold.unregister?.(); // what is left of it ends with its lease
    if (this.#next?.lose(hold)) return;
    this.stop();
    this.#next?.end();
    buryCopies(this.context, this.commands, this.grant, this.lease);
    this.grant.place.leave();
  }

  free(wasLost: boolean, hold: Hold): Promise<void> | undefined {
    return this.#next?.takes(hold, wasLost) ? undefined : this.#end();
  }

  async #end(): Promise<void> {
    this.stop();
    this.#next?.end();
    const rest = Math.ceil(this.hold.heldSince + this.hold.atLeast - this.now);
    if (rest <= 0) return await this.giveBack();
    this.extension += 1;
    buryCopies(this.context, this.commands, this.grant, this.lease);
    await letRunOut(this.context, this, rest);
    this.grant.place.leave();
  }

  /** Invariant: what others may have seen as its own is not handed on: its token, its guarded writes, its lease. */
  get mayGoOn(): boolean {
    if (this.hold.atLeast > 0 || this.extension > 0) return false;
    return !this.#token?.wasAsked && this.#writes === undefined;
  }

  async giveBack(): Promise<void> {
    const { context, commands, grant } = this;
    const command = commands.release(grant.holder, tombstoneOf(context, commands, grant));
    const listening = await (grant.release?.(command, this.deadline) ??
      context.releases.run(command, this.deadline));
    grant.place.leave(listening, this.#next?.redissons);
    if (listening !== undefined) this.#writes?.forget();
  }

  /** Schedules the renewal, or the expiry, of the current lease. */
  #watch(): void {
    const { clock, renewal, watchdogTimeout } = this.context;
    if (this.grant.isRenewed) return renewal.add(this);
    renewal.add((this.#check ??= new HoldCheck(this, watchdogTimeout / 3)));
    this.#endOfLease?.cancel();
    this.#endOfLease = clock.setTimer(() => this.expired(), this.deadline - clock.now(), true);
  }

  stop(): void {
    this.context.renewal.remove(this.#check ?? this);
    this.#endOfLease?.cancel();
    this.#endOfHold?.cancel();
  }
}
