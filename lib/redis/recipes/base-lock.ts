import { hostname } from 'node:os';
import { LockAbortedError, LockOptionsError } from '../../core/errors/index.js';
import type { Hold } from '../../core/hold.js';
import { isSameLock } from '../../core/is-same-lock.js';
import { LeaseChain } from '../../core/lease-chain.js';
import type { LockIdentity, LockRecipe } from '../../core/lock-identity.js';
import { runAcquire } from '../../core/run-acquire.js';
import { validateAcquireOptions } from '../../core/validate-acquire-options.js';
import type { WaitScope } from '../../core/wait-scope.js';
import { Contention, type Granted } from './contention.js';
import type { Place } from './contender-line.js';
import type { LockCommands } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';
import { RedisHold } from './redis-hold.js';
import { RedisLease } from './redis-lease.js';
import { SharedToken } from './shared-token.js';
import { validateLease } from './validate-lease.js';

/** What a recipe knows of its lock. */
export interface LockSettings {
  /** As the user gave it. */
  readonly key: string;
  readonly recipe: LockRecipe;
  readonly commands: LockCommands;
  /** Name of the counter of fencing tokens. */
  readonly tokenKey: string;
  /** Does the token come with the grant? */
  readonly isFenced?: boolean;
  /** Of the writer that a reader is inside of. */
  readonly token?: SharedToken;
}

/** What all locks of this backend do, as Redisson's class of that name: re-enter, else contend, and hold. */
export class BaseLock {
  readonly identity: LockIdentity;

  constructor(
    private readonly context: RecipeContext,
    readonly settings: LockSettings,
  ) {
    const { recipe, commands } = settings;
    this.identity = { scope: context, recipe, name: commands.raw, client: context.client };
  }

  /** Key and client, for errors. */
  get about(): { readonly key: string; readonly client: string } {
    return { key: this.settings.key, client: this.context.client };
  }

  /** What the caller holds of this lock. */
  held(): Hold<RedisHold> | undefined {
    return LeaseChain.find(this.identity) as Hold<RedisHold> | undefined; // the scope is ours, so the backend is
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
    if (lease !== undefined)
      validateLease('lease', lease, this.about, this.context.connection.roundTrip);
    if (maxHold !== undefined && !(Number.isFinite(maxHold) && maxHold > 0))
      throw new LockOptionsError('maxHold', maxHold, 'milliseconds above 0', this.about);
  }

  /** Tells all who hold it by this client that they have lost it. */
  loseHold(why: string): void {
    for (const hold of this.context.holds)
      if (isSameLock(hold.identity, this.identity)) hold.lose(why);
  }

  /** @param isInside does the caller go on inside of a lock that it holds? */
  acquire(options: RedisAcquireOptions, isInside = false): Promise<RedisLease> {
    const wait = options.wait ?? this.context.wait;
    const lease = this.#acquire({ ...options, wait }, true, isInside);
    return lease as Promise<RedisLease>; // who may wait ends with a lease or an error
  }

  /** One attempt, which waits for nothing but the connection. */
  tryAcquire(options: RedisAcquireOptions, isInside = false): Promise<RedisLease | undefined> {
    const wait = options.wait ?? this.context.connectTimeout;
    return this.#acquire({ ...options, wait }, false, isInside);
  }

  async #acquire(
    options: RedisAcquireOptions,
    mayWait: boolean,
    isInside: boolean,
  ): Promise<RedisLease | undefined> {
    const { context, settings } = this;
    const request = { key: settings.key, options, isInside };
    const hold = await runAcquire(context, request, (wait, contended) =>
      this.#contend(options, mayWait, wait, contended),
    );
    return hold && new RedisLease(hold.hold);
  }

  async #contend(
    options: RedisAcquireOptions,
    mayWait: boolean,
    wait: WaitScope,
    contended: () => void,
  ): Promise<RedisHold | undefined> {
    const { context } = this;
    const { commands, key } = this.settings;
    const place = commands.isLined ? this.#line.join() : undefined;
    const lease = options.lease ?? context.watchdogTimeout;
    const holder = context.newHolder();
    const request = { holder, lease, about: aboutUs(options.method), mayWait };
    const contention = new Contention(context, commands, request, wait, key, contended);
    let hold: RedisHold | undefined;
    try {
      if (place && !place.isFirst) {
        if (!mayWait) return undefined;
        contended();
        await wait.until(place.first);
      }
      const granted = await contention.run();
      wait.throwIfEnded(); // a grant that comes too late is none
      if (granted) hold = this.#hold(granted, holder, lease, options, place);
      return hold;
    } finally {
      contention.end();
      if (hold === undefined) {
        this.#leave(place);
        if (contention.isOnServer) this.#takeBack(contention, holder, lease);
      }
    }
  }

  /** In the turn of the answer, so that nothing comes in between. */
  #hold(
    { sentAt, token }: Granted,
    holder: string,
    lease: number,
    options: RedisAcquireOptions,
    place?: Place,
  ): RedisHold {
    const { context, identity, settings } = this;
    const { key, commands, tokenKey, isFenced } = settings;
    return new RedisHold(context, commands, {
      identity,
      key,
      holder,
      sentAt,
      lease,
      isRenewed: options.lease === undefined,
      maxHold: options.maxHold,
      token: settings.token ?? new SharedToken(isFenced ? token : undefined),
      tokenKey,
      ended: (listening) => {
        if (listening !== undefined) context.lines.setWanted(commands.raw, listening > 0);
        this.#leave(place);
      },
    });
  }

  /** Whatever an acquire that has failed has left on the server, or will. */
  #takeBack(contention: Contention, holder: string, lease: number): void {
    const { releases, clock } = this.context;
    const command = this.settings.commands.release(holder);
    const settled = contention.inFlight.catch(() => {});
    void releases.run(command, clock.now() + lease, settled);
  }

  get #line() {
    return this.context.lines.of(this.settings.commands.raw);
  }

  #leave(place: Place | undefined): void {
    place?.leave();
    if (place) this.context.lines.tidy(this.settings.commands.raw);
  }
}

const US = JSON.stringify({ host: hostname(), pid: process.pid });

/** Who asks, for an operator. */
function aboutUs(method?: string): string {
  const asked = method === undefined ? '' : `,"method":${JSON.stringify(method)}`;
  return `${US.slice(0, -1)}${asked},"since":${Date.now()}}`;
}
