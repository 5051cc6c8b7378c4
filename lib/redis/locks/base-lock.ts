import { LockAbortedError, LockOptionsError } from '../../core/errors/index.js';
import { runAcquire, withDefaultWait } from '../../core/internal/acquire.js';
import type { Hold } from '../../core/internal/hold.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { isSameLock, type LockIdentity, type LockRecipe } from '../../core/lock.js';
import type { RecipeContext } from '../recipe-context.js';
import type { AcquireLoop, Granted } from './acquire-loop.js';
import { contend } from './contend.js';
import type { LockCommands } from './lock-commands.js';
import { holderInfo } from './lock-holders.js';
import { type SendRelease, SharedFencingToken } from './redis-grant.js';
import { RedisHold } from './redis-hold.js';
import { type RedisAcquireOptions, RedisLease, validateLease } from './redis-lease.js';

/** What a recipe knows of its lock. */
export interface LockSettings {
  /** As the user gave it. */
  readonly key: string;
  readonly recipe: LockRecipe;
  readonly commands: LockCommands;
  /** Does the token come with the grant? */
  readonly isFenced?: boolean;
  /** Of the writer that a reader is inside of. */
  readonly token?: SharedFencingToken;
}

/** What all locks of this backend do, as Redisson's class of that name: re-enter, else contend, and hold. */
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

  /** What the caller holds of this lock. */
  held(): Hold<RedisHold> | undefined {
    return LeaseScope.find(this.identity) as Hold<RedisHold> | undefined; // the scope is ours, so the backend is
  }

  /**
   * Another lease on the hold of the caller, if the caller has one.
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
    const { lease, maxHold } = options;
    validateAcquireOptions(options, this.about);
    if (lease !== undefined) {
      const { connection } = this.context;
      if (lease < 3 * connection.roundTrip) connection.measure(); // the next one is to be told of today
      validateLease('lease', lease, this.about, connection.roundTrip);
    }
    if (maxHold !== undefined && !(Number.isFinite(maxHold) && maxHold > 0))
      throw new LockOptionsError('maxHold', maxHold, 'milliseconds above 0', this.about);
  }

  /** Tells those who hold it by this client, all or the chosen ones, that they have lost it. */
  loseHold(why: string, isMeant: (hold: RedisHold) => boolean = () => true): void {
    for (const hold of this.context.holds as Iterable<Hold<RedisHold>>)
      if (isSameLock(hold.identity, this.identity) && isMeant(hold.backend)) hold.markLost(why);
  }

  /** @param isInside does the caller go on inside of a lock that it holds? */
  acquire(
    options: RedisAcquireOptions,
    isInside = false,
    holder = this.context.newHolder(),
  ): Promise<RedisLease> {
    const wait = options.wait ?? this.context.wait;
    const lease = this.#acquire(withDefaultWait(options, wait), true, isInside, holder);
    return lease as Promise<RedisLease>; // who may wait ends with a lease or an error
  }

  /** One attempt, which waits for nothing but the connection. */
  tryAcquire(
    options: RedisAcquireOptions,
    isInside = false,
    holder = this.context.newHolder(),
  ): Promise<RedisLease | undefined> {
    const wait = options.wait ?? this.context.connectTimeout;
    return this.#acquire(withDefaultWait(options, wait), false, isInside, holder);
  }

  #acquire(
    options: RedisAcquireOptions,
    mayWait: boolean,
    isInside: boolean,
    holder: string,
  ): Promise<RedisLease | undefined> {
    const { context, settings } = this;
    const { key, recipe } = settings;
    const request = { key, recipe, options, isInside };
    return runAcquire(context, request, (wait, contended) =>
      this.#contend(options, mayWait, holder, wait, contended),
    );
  }

  async #contend(
    options: RedisAcquireOptions,
    mayWait: boolean,
    holder: string,
    wait: WaitScope,
    contended: () => void,
  ): Promise<RedisLease | undefined> {
    const { context } = this;
    const { commands, key } = this.settings;
    const { minLease = 0, lease = Math.max(context.watchdogTimeout, minLease) } = options;
    wait.waiterId = () => holder;
    return await contend(
      context,
      {
        key,
        commands,
        request: { holder, lease, about: holderInfo(options.method), mayWait },
        lines: [commands],
        granted: (grant, [place]) =>
          new RedisLease(this.hold(grant, holder, lease, options, () => place!.leave()).hold),
        takeBack: (contention) => this.takeBack(contention, holder, lease),
      },
      wait,
      contended,
    );
  }

  /**
   * To be called in the turn of the answer, so that nothing comes in between.
   *
   * @param leave called when the lock is free or lost
   * @param release sends the release, where that is not done for this lock alone
   */
  hold(
    { sentAt, token, interruptions }: Granted,
    holder: string,
    lease: number,
    options: RedisAcquireOptions,
    leave: () => void,
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
      maxHold: options.maxHold,
      token: settings.token ?? new SharedFencingToken(isFenced ? token : undefined),
      ended: (listening) => {
        if (listening !== undefined) context.lines.setWanted(commands.redisKey, listening > 0);
        leave();
      },
      release,
    });
  }

  /** Removes whatever an acquire that has failed has left on the server, or will. */
  takeBack(contention: AcquireLoop, holder: string, lease: number): void {
    const { releases, clock } = this.context;
    const { commands } = this.settings;
    const command = () =>
      commands.release(holder, contention.mayFollow ? commands.tombstoneOf(holder) : '');
    const settled = contention.inFlight.catch(() => {});
    void releases.run(command, clock.now() + lease, settled);
  }
}
