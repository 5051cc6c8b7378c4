import { Tenure } from '../../core/hand-off.js';
import { KeptLock } from '../../core/kept-lock.js';
import type { HandOff } from '../../core/lock.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockCommands } from './lock-commands.js';
import { mayKeep } from './lock-holders.js';
import type { RedisGrant } from './redis-grant.js';

/** The part of a hold that decides whether the next caller of its client gets it without asking the server. */
export class NextCaller {
  /** How often it was handed on so far. */
  readonly handOffs: number | undefined;
  /** Number of waiters that hand nothing on, as those of Redisson, at the end of a turn in which the lock was handed on. */
  redissons: number | undefined;
  readonly #tenure: Tenure;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: LockCommands,
    private readonly grant: RedisGrant,
    private readonly bounds: HandOff,
  ) {
    const { tenure } = grant;
    if (tenure !== undefined) this.handOffs = tenure.handOffs += 1;
    this.#tenure = tenure ?? new Tenure(context.clock.now());
  }

  /**
   * Hands the hold on to the next caller, or keeps it for one; returns whether it does.
   *
   * @param confirmedAt when the command that last set the lease was sent
   * @param release called when it is kept no more
   */
  passOn(confirmedAt: number, release: () => unknown): boolean {
    const { isLast } = this.grant.place;
    if (this.#mayGoOn(confirmedAt))
      return isLast ? this.#keep(confirmedAt, release) : this.#handOn(confirmedAt);
    if (!isLast && this.#tenure.handOffs > 0) void this.#countRedissons();
    return false;
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

  #handOn(sentAt: number): boolean {
    const { holder, lease, interruptions, place } = this.grant;
    if (!this.#mayGoOn(sentAt)) return false;
    return place.handOff({ holder, sentAt, lease, interruptions, tenure: this.#tenure });
  }

  #keep(confirmedAt: number, release: () => unknown): boolean {
    const { context, bounds } = this;
    const { place, identity } = this.grant;
    const tenure = this.#tenure;
    const now = context.clock.now();
    const ms = Math.min(tenure.keepFor(bounds, now), this.#safeUntil(confirmedAt) - now);
    if (ms <= 0 || context.accepts !== 'all') return false;
    const giveBack = () => {
      this.end();
      void release();
    };
    const handOn = () => this.#handOn(confirmedAt);
    new KeptLock(context, { identity, place, tenure, handOn, giveBack }, ms);
    if (tenure.stopLooking === undefined) this.#lookForWaiters();
    return true;
  }

  /** To be called when the hold is released, or lost. */
  end(): void {
    this.#tenure.end();
  }

  #mayGoOn(confirmedAt: number): boolean {
    const { clock, connection } = this.context;
    const now = clock.now();
    const isSafe = now <= this.#safeUntil(confirmedAt);
    const isSameLink = connection.interruptions.count === this.grant.interruptions;
    return isSafe && isSameLink && this.#tenure.mayGoOn(this.bounds, now);
  }

  /**
   * The renewal of the next caller's hold is due when that of a new one is, so the server has confirmed it lately, on a connection
   * that did not break since: what was lost on the server meanwhile is noticed no later than by a holder that was just granted it.
   */
  #safeUntil(confirmedAt: number): number {
    return confirmedAt + this.grant.lease / 6;
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
): NextCaller | undefined {
  const { handOff, isRenewed, release } = grant;
  if (handOff === undefined || commands.wanted === undefined) return undefined;
  if (!isRenewed || release !== undefined) return undefined;
  return new NextCaller(context, commands, grant, handOff);
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
