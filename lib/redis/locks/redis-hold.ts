import { exactNow, type Timer } from '../../core/clock.js';
import { LockNotHeldError } from '../../core/errors/index.js';
import type { GuardedWrite } from '../../core/lease.js';
import { unlessLost } from '../../core/internal/timers.js';
import { emitIfEndangered } from '../../core/internal/endangered.js';
import { Hold, type HoldBackend } from '../../core/internal/hold.js';
import { reasonOf } from '../connection/redis-error.js';
import type { Registration, Renewable, Renewal } from '../connection/renewal-schedule.js';
import type { RecipeContext } from '../recipe-context.js';
import { lockRenew, tokenRaise } from '../scripts/index.js';
import { GuardedWrites } from './guarded-writes.js';
import { type NextCaller, nextCallerOf } from './next-caller.js';
import type { LockCommands } from './lock-commands.js';
import { permitIdsOf } from '../semaphores/permit-holder.js';
import {
  buryCopies,
  driftAdjustedDeadline,
  isKnown,
  nextToken,
  type RedisGrant,
  SharedFencingToken,
  tombstoneOf,
} from './redis-grant.js';

/** A held lock of this backend. */
export class RedisHold implements HoldBackend, Renewable {
  readonly hold: Hold<RedisHold>;
  lease: number;
  deadline: number;
  #confirmedAt: number;
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
  #stopConfirming?: () => void;
  #writes?: GuardedWrites;
  readonly #next: NextCaller | undefined;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: LockCommands,
    private readonly grant: RedisGrant,
  ) {
    const { identity, key, method, sentAt, lease, isRenewed, maxHold } = grant;
    const { client, clock, connection } = context;
    this.lease = lease;
    this.deadline = driftAdjustedDeadline(sentAt, lease);
    this.#confirmedAt = sentAt;
    this.endsAt = clock.now() + (maxHold ?? Infinity);
    this.#watch();
    if (!isRenewed) this.#stopConfirming = connection.onReady(() => void this.#confirm());
    if (maxHold !== undefined) {
      const why = `it was held for longer than its maxHold of ${maxHold} ms`;
      this.#endOfHold = clock.setTimer(() => this.hold.markLost(why), maxHold, true);
    }
    this.#next = nextCallerOf(context, commands, grant);
    this.hold = new Hold(identity, { key, client }, this, method, context);
  }

  get handOffs(): number | undefined {
    return this.#next?.handOffs;
  }

  get now(): number {
    return this.context.clock.now();
  }

  get confirmedAgoMs(): number {
    return this.now - this.#confirmedAt;
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

  /** Whether its server is connected now. */
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

  fencingToken(): Promise<bigint> {
    return this.token.get(() => nextToken(this.context, this.commands, this.hold));
  }

  /** See `HoldBackend.guard`. */
  guard(write: GuardedWrite<unknown>, holds: readonly [Hold, ...Hold[]]): Promise<unknown> {
    this.#writes ??= new GuardedWrites(this.context, this.commands.redisKey, this.holder);
    return this.#writes.run(write, holds as [Hold<RedisHold>]);
  }

  /** Ensures that no later holder gets a token below `token`; rejects if the lock is not held, or there is no answer. */
  async raiseToken(token: bigint): Promise<void> {
    const { key, holder } = this.grant;
    const { keys, args } = this.commands.token(holder);
    const raising = this.context.connection.run(tokenRaise, keys, [...args, String(token)]);
    const raised = await unlessLost(this.hold, raising);
    if (raised !== 1) throw new LockNotHeldError({ key, client: this.context.client });
  }

  /** Sets the lease to `lease` ms from now; also resolves if the lock is lost meanwhile. */
  async extend(lease: number): Promise<void> {
    const sentAt = this.context.clock.now();
    this.#extendedAt = sentAt;
    this.lease = lease;
    this.deadline = Math.min(this.deadline, driftAdjustedDeadline(sentAt, lease)); // it may take effect without an answer
    this.extension += 1;
    this.#watch();
    const renewed = this.context.renewal.renewOne({ ...this.#renewal, isExtension: true });
    const isHeld = await unlessLost(this.hold, renewed);
    if (!this.hold.isLive) return;
    if (!isHeld) return this.gone();
    this.renewed(sentAt, lease);
    this.#watch();
  }

  renewed(sentAt: number, lease: number): void {
    const isOld = sentAt < Math.max(this.#extendedAt, this.#confirmedAt) || lease !== this.lease;
    if (isOld) return; // another lease was requested since, and may already be in force, or a later renewal was confirmed
    this.deadline = driftAdjustedDeadline(sentAt, lease);
    this.#confirmedAt = sentAt;
  }

  overdue(): void {
    emitIfEndangered(this.context.events, this.hold);
    this.onEndangered?.();
  }

  gone(): void {
    this.hold.markLost('it is no longer on the server: it was removed by force, or forgotten');
  }

  expired(): void {
    if (!this.grant.isRenewed)
      return this.hold.markLost(`its lease of ${this.lease} ms is about to end`);
    const { trouble } = this.context.connection;
    const why = trouble ? `: ${reasonOf(trouble.message)}` : '';
    this.hold.markLost(`it could not be renewed in time, and its lease is about to end${why}`);
  }

  lost(): void {
    this.#stop();
    this.#next?.end();
    this.hold.unregister?.(); // what is left of it ends with its lease
    buryCopies(this.context, this.commands, this.grant, this.lease);
    this.grant.place.leave();
  }

  async free(wasLost: boolean): Promise<void> {
    if (!wasLost && this.#passOn()) return this.#stop();
    this.#stop();
    this.#next?.end();
    const rest = Math.ceil(this.hold.heldSince + this.hold.atLeast - this.now);
    if (rest > 0) return this.grant.place.leave(await this.#letRunOut(rest));
    await this.#giveBack();
  }

  /** Invariant: what others may have seen as its own is not handed on: its token, its guarded writes, its lease. */
  #passOn(): boolean {
    if (this.#next === undefined || this.hold.atLeast > 0) return false;
    if (this.#token?.wasAsked || this.#writes !== undefined || this.extension > 0) return false;
    return this.#next.passOn(this.#confirmedAt, () => this.#giveBack());
  }

  async #giveBack(): Promise<void> {
    const { context, commands, grant } = this;
    const command = commands.release(grant.holder, tombstoneOf(context, commands, grant));
    const listening = await (grant.release?.(command, this.deadline) ??
      context.releases.run(command, this.deadline));
    grant.place.leave(listening, this.#next?.redissons);
    if (listening !== undefined) this.#writes?.forget();
  }

  /** Lets the lease expire on the server after `rest` ms, whatever happens to this process. */
  async #letRunOut(rest: number): Promise<undefined> {
    buryCopies(this.context, this.commands, this.grant, this.lease);
    const args = [this.field, rest, this.kind, (this.extension += 1), 1];
    const command = { script: lockRenew, keys: this.keys, args };
    await this.context.releases.run(command, this.now + rest);
  }

  get #renewal(): Renewal {
    const { keys, field, kind, lease, extension } = this;
    return { keys, field, kind, lease, extension };
  }

  /** Asks whether the server still knows the hold: without renewal, nothing else would detect that it has forgotten it. */
  async #confirm(): Promise<void> {
    if (!(await isKnown(this.context, this.#renewal, () => this.hold.isLive))) this.gone();
  }

  /** Schedules the renewal, or the expiry, of the current lease. */
  #watch(): void {
    const { clock, renewal } = this.context;
    if (this.grant.isRenewed) return renewal.add(this);
    this.#endOfLease?.cancel();
    this.#endOfLease = clock.setTimer(() => this.expired(), this.deadline - clock.now(), true);
  }

  /** Stops renewal and timers. */
  #stop(): void {
    this.context.renewal.remove(this);
    this.#endOfLease?.cancel();
    this.#endOfHold?.cancel();
    this.#stopConfirming?.();
  }
}
