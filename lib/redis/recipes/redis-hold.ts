import type { Timer } from '../../core/clock.js';
import { LockNotHeldError, type LockLostError } from '../../core/errors/index.js';
import { Hold, type HoldBackend } from '../../core/hold.js';
import type { LockIdentity } from '../../core/lock-identity.js';
import type { Renewable } from '../connection/renewable.js';
import { lockToken } from '../scripts/lock-token.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';
import { safeDeadline } from './safe-deadline.js';
import type { SharedToken } from './shared-token.js';

/** Delay before a question that was not answered is asked again, in ms. */
const ASK_AGAIN_AFTER = 200;

/** What was granted. Times in ms. */
export interface RedisGrant {
  readonly identity: LockIdentity;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly holder: string;
  /** When the command was sent that set the lease. */
  readonly sentAt: number;
  readonly lease: number;
  /** Is the lease set anew as long as the lock is held? */
  readonly isRenewed: boolean;
  readonly maxHold?: number;
  /** Its own, or that of the writer it is inside of. */
  readonly token: SharedToken;
  /** Name of its counter. */
  readonly tokenKey: string;
  /** Called when the lock was given back, with how many were listening if that is known, and when it was lost. */
  readonly ended: (listening?: number) => void;
}

/** A lock of this backend that is held. */
export class RedisHold implements HoldBackend, Renewable {
  readonly hold: Hold<RedisHold>;
  readonly keys: readonly [string, string];
  readonly field: string;
  readonly kind: 'alone' | 'write' | 'read';
  lease: number;
  deadline: number;
  readonly #heldSince: number;
  #extendedAt = -Infinity;
  readonly #endOfHold?: Timer;
  #endOfLease?: Timer;
  #stopConfirming?: () => void;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: LockCommands,
    private readonly grant: RedisGrant,
  ) {
    const { identity, key, holder, sentAt, lease, isRenewed, maxHold } = grant;
    const { client, clock, connection } = context;
    this.hold = new Hold(identity, { key, client }, this);
    this.keys = [commands.raw, commands.holdOf(holder)];
    this.field = commands.fieldOf(holder);
    this.kind = commands.kind;
    this.lease = lease;
    this.deadline = safeDeadline(sentAt, lease);
    this.#heldSince = clock.now();
    context.holds.add(this.hold);
    this.#watch();
    if (!isRenewed) this.#stopConfirming = connection.onReady(() => void this.#confirm());
    if (maxHold !== undefined)
      this.#endOfHold = clock.setTimer(
        () => this.#lose(`it was held for longer than its maxHold of ${maxHold} ms`),
        maxHold,
        true,
      );
  }

  /** The time on the clock that `deadline` is of. */
  get now(): number {
    return this.context.clock.now();
  }

  /** Owner of the hold on the server. */
  get holder(): string {
    return this.grant.holder;
  }

  isExclusive(): boolean {
    return this.context.clock.now() < this.deadline;
  }

  /** Which readers inside of it have too. */
  get token(): SharedToken {
    return this.grant.token;
  }

  fencingToken(): Promise<bigint> {
    return this.token.get(() => this.#nextToken());
  }

  /** Sets the lease anew, to `lease` ms from now; comes back too when the lock is lost meanwhile. */
  async extend(lease: number): Promise<void> {
    const sentAt = this.context.clock.now();
    this.#extendedAt = sentAt;
    this.lease = lease;
    this.deadline = Math.min(this.deadline, safeDeadline(sentAt, lease)); // it may take effect without an answer
    this.#watch();
    const isHeld = await this.#unlessLost(this.context.renewal.renewOne(this.#renewable));
    if (!this.hold.isLive) return;
    if (!isHeld) return this.gone();
    this.renewed(sentAt, lease);
    this.#watch();
  }

  renewed(sentAt: number, lease: number): void {
    const isOld = sentAt < this.#extendedAt || lease !== this.lease;
    if (isOld) return; // another one was asked for since, and may be in force already
    this.deadline = safeDeadline(sentAt, lease);
  }

  gone(): void {
    this.#lose('the server does not know of it any more: it was removed by force, or forgotten');
  }

  expired(): void {
    this.#lose(
      this.grant.isRenewed
        ? 'it could not be renewed in time, and its lease is about to end'
        : `its lease of ${this.lease} ms is about to end`,
    );
  }

  lost(error: LockLostError): void {
    this.#stop();
    this.context.events.emit('lost', { key: this.grant.key, error });
    this.grant.ended();
  }

  async free(): Promise<void> {
    const { context, commands, grant } = this;
    const wasLost = this.hold.lost !== undefined;
    this.#stop();
    context.holds.delete(this.hold);
    const listening = await context.releases.run(commands.release(grant.holder), this.deadline);
    grant.ended(listening);
    if (!wasLost)
      context.events.emit('released', {
        key: grant.key,
        heldMs: context.clock.now() - this.#heldSince,
      });
  }

  async #nextToken(): Promise<bigint> {
    const { key, tokenKey } = this.grant;
    const { keys, field } = this;
    const asking = this.context.connection.run(lockToken, [keys[0], tokenKey], [field]);
    const next = await this.#unlessLost(asking);
    if (next === null) this.gone();
    const { lost } = this.hold;
    if (lost) throw lost;
    if (next === null) throw new LockNotHeldError({ key, client: this.context.client });
    return BigInt(next as number);
  }

  get #renewable(): Omit<Renewable, 'deadline'> {
    const { keys, field, kind, lease } = this;
    return { keys, field, kind, lease, renewed() {}, gone() {}, expired() {} };
  }

  /** Where it is not renewed nobody else would notice that a server has forgotten it. */
  async #confirm(): Promise<void> {
    const { clock, renewal } = this.context;
    while (this.hold.isLive)
      try {
        const isHeld = await renewal.renewOne({ ...this.#renewable, lease: 0 });
        return isHeld ? undefined : this.gone();
      } catch {
        await new Promise<void>((resolve) => clock.setTimer(resolve, ASK_AGAIN_AFTER, true));
      }
  }

  /** Sees to the renewal, or to the end, of the lease that it has now. */
  #watch(): void {
    const { clock, renewal } = this.context;
    if (this.grant.isRenewed) return renewal.add(this);
    this.#endOfLease?.cancel();
    this.#endOfLease = clock.setTimer(() => this.expired(), this.deadline - clock.now(), true);
  }

  /** The answer; or `undefined` as soon as the lock is lost, when the answer may be long in coming. */
  async #unlessLost<T>(answer: Promise<T>): Promise<T | undefined> {
    let stop: (() => void) | undefined;
    const lost = new Promise<undefined>((resolve) => {
      stop = this.hold.onLost(() => resolve(undefined));
    });
    return Promise.race([answer, lost]).finally(stop);
  }

  #lose(why: string): void {
    this.hold.lose(why);
  }

  /** From here on nothing prolongs it. */
  #stop(): void {
    this.context.renewal.remove(this);
    this.#endOfLease?.cancel();
    this.#endOfHold?.cancel();
    this.#stopConfirming?.();
  }
}
