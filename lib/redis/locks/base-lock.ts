import { LockAbortedError, LockError } from '../../core/errors/index.js';
import { runAcquire } from '../../core/internal/acquire.js';
import type { Hold } from '../../core/internal/hold.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { type HandOff, isSameLock, type LockIdentity, type LockRecipe } from '../../core/lock.js';
import { SharedHold } from '../../core/shared-hold.js';
import { isReply } from '../connection/redis-error.js';
import type { RecipeContext } from '../recipe-context.js';
import type { AcquireLoop, Granted } from './acquire-loop.js';
import { contend } from './contend.js';
import type { LockCommand, LockCommands } from './lock-commands.js';
import { holderInfo, newHolder } from './lock-holders.js';
import type { Handed, HandedHold, LocalQueuePlace } from './local-queue.js';
import type { RedisGrant, SendRelease, SharedFencingToken } from './redis-grant.js';
import { RedisHold } from './redis-hold.js';
import {
  type RedisAcquireOptions,
  RedisLease,
  validateLease,
  validateMaxHold,
} from './redis-lease.js';

/** Names of the options that locks on Redis have besides those of every acquire. */
const OF_LOCKS = ['lease', 'maxHold'];
const OF_SEMAPHORES = [...OF_LOCKS, 'permits'];

/** Settings of a lock, given by its recipe. */
interface LockSettings {
  /** Key as given by the user. */
  readonly key: string;
  readonly recipe: LockRecipe;
  readonly commands: LockCommands;
  /** Whether the grant includes the fencing token. */
  readonly isFenced?: boolean;
  /** Bounds within which a hold may be handed on. */
  readonly handOff?: HandOff | undefined;
  /** Fencing token of the writer that a reader is inside of. */
  readonly token?: SharedFencingToken;
}

/** Behaviour shared by all Redis locks (Redisson's `RedissonBaseLock`): re-entry, contention, holding. */
export class BaseLock {
  readonly identity: LockIdentity;

  constructor(
    private readonly context: RecipeContext,
    readonly settings: LockSettings,
  ) {
    const { recipe, commands } = settings;
    this.identity = { scope: context, recipe, name: commands.redisKey, client: context.client };
  }

  /** Key and client, for errors. */
  get about(): { readonly key: string; readonly client: string } {
    return { key: this.settings.key, client: this.context.client };
  }

  /** Returns the caller's hold of this lock, if any. */
  held(): Hold<RedisHold> | undefined {
    return LeaseScope.find(this.identity) as Hold<RedisHold> | undefined; // a hold in this scope has this backend
  }

  /**
   * Returns another lease on the caller's hold, or `undefined` if the caller has none.
   *
   * @throws LockOptionsError
   * @throws LockAbortedError
   */
  reenter(options: RedisAcquireOptions): RedisLease | undefined {
    this.validate(options);
    const hold = this.held();
    if (hold === undefined) return undefined;
    if (options.signal?.aborted)
      throw new LockAbortedError({ ...this.about, cause: options.signal.reason });
    return new RedisLease(hold);
  }

  /** @throws LockOptionsError */
  validate(options: RedisAcquireOptions): void {
    validateAcquireOptions(options, this.about, this.#optionNames);
    const { lease, maxHold } = options;
    if (lease !== undefined) {
      const { connection } = this.context;
      if (lease < 3 * connection.roundTrip) connection.measure(); // updates the round trip for the next validation
      validateLease('lease', lease, this.about, connection.roundTrip);
    }
    validateMaxHold(maxHold, this.about);
  }

  /** Shorter for a lock that may be kept: if this process crashes, others wait for its end although no caller has the lock. */
  get #renewedLease(): number {
    const { watchdogTimeout } = this.context;
    const { keep } = this.settings.handOff ?? {};
    if (keep === undefined) return watchdogTimeout;
    return Math.min(watchdogTimeout, Math.max(Math.ceil(watchdogTimeout / 3), 6 * keep, 1_000));
  }

  get #optionNames(): readonly string[] {
    return this.settings.recipe === 'semaphore' ? OF_SEMAPHORES : OF_LOCKS;
  }

  /** This client's holds of this lock. */
  *holds(): Iterable<Hold<RedisHold>> {
    for (const hold of this.context.holds.walk() as Iterable<Hold<RedisHold>>)
      if (isSameLock(hold.identity, this.identity)) yield hold;
  }

  /** Marks this client's holds of this lock as lost: all of them, or those that `isMeant` selects. */
  loseHold(why: string, isMeant: (hold: RedisHold) => boolean = () => true): void {
    for (const hold of this.holds()) if (isMeant(hold.backend)) hold.markLost(why);
    for (const lock of this.context.kept.walk())
      if (isSameLock(lock.identity, this.identity)) lock.giveBack();
  }

  acquire(options: RedisAcquireOptions, holder?: string): Promise<RedisLease> {
    return this.#acquire(options, true, holder) as Promise<RedisLease>; // as it may wait: else it ends with an error
  }

  /** Makes one attempt; waits only for the connection. */
  tryAcquire(options: RedisAcquireOptions, holder?: string): Promise<RedisLease | undefined> {
    return this.#acquire(options, false, holder);
  }

  #acquire(
    given: RedisAcquireOptions,
    mayWait: boolean,
    holder?: string,
  ): Promise<RedisLease | undefined> {
    const { context, settings } = this;
    const { key, recipe } = settings;
    const options = { ...given }; // the caller may change its object while this waits
    const wait = mayWait ? context.wait : context.connectTimeout;
    const request = { key, recipe, options, wait, mayWait };
    return runAcquire(context, request, (scope) => this.#contend(options, mayWait, scope, holder));
  }

  #contend(
    options: RedisAcquireOptions,
    mayWait: boolean,
    wait: WaitScope,
    givenHolder?: string,
  ): Promise<RedisLease | undefined> {
    const { context } = this;
    const { commands, key, handOff } = this.settings;
    const { minLease = 0, lease = Math.max(this.#renewedLease, minLease) } = options;
    const holder = givenHolder ?? newHolder(context.holderIds);
    const about = holderInfo(options.method, handOff?.keep !== undefined);
    const waiterId = () => holder;
    wait.waiterId = waiterId;
    return contend(
      context,
      {
        key,
        commands,
        request: { holder, lease, about, mayWait, isHandedOn: handOff !== undefined },
        line: commands,
        granted: (grant, place) =>
          new RedisLease(this.hold(grant, holder, lease, options, place).hold),
        takeOver: (handed, place) => this.#takeOver(handed, lease, options, place, wait),
        takeBack: (contention) => this.takeBack(contention, holder, lease),
      },
      wait,
    );
  }

  /**
   * Creates the hold of a grant. Must be called in the event loop turn of the answer, so that nothing runs in between.
   *
   * @param place left when the lock is free or lost
   * @param release sends the release, if it is not sent for this lock alone
   */
  hold(
    { sentAt, token, interruptions, tenure }: Granted & Pick<Partial<HandedHold>, 'tenure'>,
    holder: string,
    lease: number,
    options: RedisAcquireOptions,
    place: RedisGrant['place'],
    release?: SendRelease,
  ): RedisHold {
    const { context, identity, settings } = this;
    const { key, commands, isFenced } = settings;
    return new RedisHold(context, commands, {
      identity,
      key,
      method: options.method,
      holder,
      sentAt,
      lease,
      isRenewed: options.lease === undefined,
      interruptions,
      tenure,
      handOff: settings.handOff,
      maxHold: options.maxHold,
      token: isFenced ? token : undefined,
      sharedToken: settings.token,
      place,
      release,
    });
  }

  /** The lease that was handed on, if this acquire would have asked the server for the same. */
  #takeOver(
    handed: Handed,
    lease: number,
    options: RedisAcquireOptions,
    place: LocalQueuePlace,
    wait: WaitScope,
  ): RedisLease | undefined {
    if (this.settings.handOff === undefined || wait.isOver) return undefined;
    let hold;
    if (handed instanceof SharedHold) {
      hold = handed.join(place, options.method) as Hold<RedisHold>;
    } else {
      if (options.lease !== undefined || lease !== handed.lease) return undefined;
      hold = this.hold(handed, handed.holder, lease, options, place).hold;
    }
    wait.handOffs = handed.tenure?.handOffs;
    return new RedisLease(hold);
  }

  /** As the function. */
  takeBack(contention: AcquireLoop, holder: string, lease: number): void {
    const { commands } = this.settings;
    takeBack(this.context, contention, lease, (mayFollow) =>
      commands.release(holder, mayFollow ? commands.tombstoneOf(holder) : ''),
    );
  }
}

/**
 * Removes anything that a failed acquire has left, or may still leave, on the server.
 *
 * @param release makes the command; whether a copy of the acquire may follow it
 */
export function takeBack(
  { releases, clock }: RecipeContext,
  contention: AcquireLoop,
  lease: number,
  release: (mayFollow: boolean) => LockCommand,
): void {
  const until = clock.now() + lease;
  // A request that ended without an answer may be sent again, whatever the connection has done since.
  const mayFollow = contention.inFlight.then(
    () => contention.mayFollow,
    (error) => contention.mayFollow || !(isReply(error) || error instanceof LockError),
  );
  void releases.run(mayFollow.then(release), until);
}
