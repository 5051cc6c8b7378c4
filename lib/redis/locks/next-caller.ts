import { Tenure } from '../../core/hand-off.js';
import type { Hold } from '../../core/internal/hold.js';
import { KeptLock } from '../../core/kept-lock.js';
import type { HandOff } from '../../core/lock.js';
import { SharedHold } from '../../core/shared-hold.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockCommands } from './lock-commands.js';
import { mayKeep } from './lock-holders.js';
import type { RedisGrant } from './redis-grant.js';

/** The lock as its present caller has it. */
interface Held {
  readonly hold: Hold;
  /** When the command that last set the lease was sent. */
  readonly confirmedAt: number;
  /** Whether nothing of it was seen by others that the next caller must not have. */
  readonly mayGoOn: boolean;
  newHold(method?: string): Hold;
  /** Stops its renewal and its timers. */
  stop(): void;
  /** Releases it on the server. */
  giveBack(): Promise<void>;
}

/** The part of a hold that decides whether the next caller of its client gets it without asking the server. */
export class NextCaller {
  /** Number of waiters that hand nothing on, as those of Redisson, at the end of a turn in which the lock was handed on. */
  redissons: number | undefined;
  readonly #tenure: Tenure;
  readonly #shared: SharedHold | undefined;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: LockCommands,
    private readonly grant: RedisGrant,
    private readonly bounds: HandOff,
    private readonly held: Held,
  ) {
    const { tenure, identity, place } = grant;
    if (tenure !== undefined) tenure.handOffs += 1;
    this.#tenure = tenure ?? new Tenure(context.clock.now());
    if (identity.recipe !== 'readLock') return;
    const mayGoOn = () => this.#mayGoOn;
    const newHold = (method?: string) => held.newHold(method);
    this.#shared = new SharedHold({ tenure: this.#tenure, mayGoOn, newHold }, held.hold, place);
  }

  /** Of the callers that have the lock, if several may share it. */
  get sharers(): readonly Hold[] | undefined {
    return this.#shared?.holds;
  }

  /** How often it was handed on so far. */
  get handOffs(): number {
    return this.#tenure.handOffs;
  }

  /** Called when a hold is released: whether another caller has the lock, gets it now, or will get it as it is kept. */
  takes(hold: Hold, wasLost: boolean): boolean {
    if (this.#shared) return this.#shared.leave(hold);
    if (wasLost) return false;
    const { isLast } = this.grant.place;
    if (this.#mayGoOn) {
      const isTaken = isLast ? this.#keep() : this.#handOn();
      if (isTaken) this.held.stop();
      return isTaken;
    }
    if (!isLast && this.#tenure.handOffs > 0 && this.held.mayGoOn) void this.#countRedissons();
    return false;
  }

  /** Called when a hold is lost: whether other callers still have the lock. */
  lose(hold: Hold): boolean {
    return this.#shared?.lose(hold) === true;
  }

  /** To be called when the lock is released, or lost. */
  end(): void {
    this.#tenure.end();
  }

  get #mayGoOn(): boolean {
    const { clock, connection } = this.context;
    const now = clock.now();
    const isSameLink = connection.interruptions.count === this.grant.interruptions;
    const isSafe = isSameLink && now <= this.#safeUntil;
    return isSafe && this.#tenure.mayGoOn(this.bounds, now) && this.held.mayGoOn;
  }

  /**
   * The renewal of the next caller's hold is due when that of a new one is, so the server has confirmed it lately, on a connection
   * that did not break since: what was lost on the server meanwhile is noticed no later than by a holder that was just granted it.
   */
  get #safeUntil(): number {
    return this.held.confirmedAt + this.grant.lease / 6;
  }

  /** The answer comes before that to the release, upon which the next caller asks; it gives way to them. */
  async #countRedissons(): Promise<void> {
    const answer = (await this.#look().catch(() => [])) as number[];
    this.redissons = answer[1];
  }

  #look(): Promise<unknown> {
    const { script, keys, args } = this.commands.wanted!();
    return this.context.connection.run(script, keys, args);
  }

  #handOn(): boolean {
    const { holder, lease, interruptions, place } = this.grant;
    if (!this.#mayGoOn) return false;
    const { confirmedAt: sentAt } = this.held;
    return place.handOff({ holder, sentAt, lease, interruptions, tenure: this.#tenure });
  }

  #keep(): boolean {
    const { context, bounds } = this;
    const { place, identity } = this.grant;
    const tenure = this.#tenure;
    const now = context.clock.now();
    const ms = Math.min(tenure.keepFor(bounds, now), this.#safeUntil - now);
    if (ms <= 0 || context.accepts !== 'all') return false;
    const giveBack = () => {
      this.end();
      void this.held.giveBack();
    };
    const handOn = () => this.#handOn();
    new KeptLock(context, { identity, place, tenure, handOn, giveBack }, ms);
    if (tenure.stopLooking === undefined) this.#lookForWaiters();
    return true;
  }

  /**
   * Has the tenure `want` as soon as others wait for the lock.
   *
   * Invariant: a waiter of this library asks the keeper after each answer that the lock is taken. If the keeper does not listen yet,
   * the waiter is registered before the keeper looks for waiters, which it does when it listens. Redisson's are seen then, too.
   */
  #lookForWaiters(): void {
    const { context, commands, grant } = this;
    const { subscriptions } = context.connection;
    const tenure = this.#tenure;
    const channel = subscriptions.join(commands.channelOf(grant.holder, 0, true));
    const want = () => tenure.want();
    const look = async () => {
      const [isWanted] = (await this.#look()) as number[];
      if (isWanted !== 0) want();
    };
    let isListening = false;
    const stopListening = channel.onSignal(() => {
      if (isListening) return want(); // asked for, or no longer heard
      isListening = channel.isActive;
      if (isListening) look().catch(want);
    });
    const stopLooking = () => {
      stopListening();
      subscriptions.leave(channel);
    };
    tenure.stopLooking = stopLooking;
  }
}

/** `undefined` if the next caller has to ask the server. */
export function nextCallerOf(
  context: RecipeContext,
  commands: LockCommands,
  grant: RedisGrant,
  held: Held,
): NextCaller | undefined {
  const { handOff, isRenewed, release } = grant;
  if (handOff === undefined || !isRenewed || release !== undefined) return undefined;
  return new NextCaller(context, commands, grant, handOff, held);
}

/** Asks the holder for the lock if it may have kept it; see `NextCaller`. Without that the waiter waits for the time that it keeps it. */
export function askKeeper(
  connection: RedisConnection,
  [holder, about]: readonly (string | number)[],
  channelOf: (holder: string) => string,
): void {
  if (holder === undefined || !mayKeep(about)) return;
  connection.read(connection.publishCommand, channelOf(String(holder)), '0').catch(() => {});
}
