import { LockAbortedError } from '../../core/errors/index.js';
import { refuseUnlessAccepted } from '../../core/internal/acquire.js';
import type { Hold } from '../../core/internal/hold.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { ownHolder } from '../../core/internal/own-holder.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { AcquireOptions, LockIdentity, LockRecipe } from '../../core/lock.js';
import { SharedHold } from '../../core/shared-hold.js';
import type { Session } from '../connection/session.js';
import type { LockSettings } from '../lock-path.js';
import { listChildren } from '../nodes/node-requests.js';
import { sortedNames } from './sorted-names.js';
import type { RecipeContext } from '../recipe-context.js';
import { type Acquisition, runAcquisition } from './acquisition.js';
import { type AttemptPlan, LockAttempt, type PlanOf } from './lock-attempt.js';
import type { LockInternalsDriver } from './lock-drivers.js';
import { LockHold } from './lock-hold.js';
import type { Handed, HandedNodes } from './next-caller.js';
import { type Place, standInLine } from './stand-in-line.js';
import { ZooKeeperLease } from './zookeeper-lease.js';

/** An attempt that was granted in `session`. */
export interface GrantedAttempt {
  readonly attempt: LockAttempt;
  readonly session: Session;
  readonly plan: AttemptPlan;
}

/** Ephemeral nodes in one directory, served in the order of their numbers. */
export class LockQueue {
  constructor(
    private readonly context: RecipeContext,
    private readonly directory: string,
    /** Data of the nodes; default: that of the client. */
    private readonly data?: Buffer,
  ) {}

  /**
   * Queues until it is our turn; resolves to the result of `take`, or to `undefined` if others are ahead and the
   * acquisition may not wait.
   *
   * Without a grant, the node is always removed: before this resolves for an attempt that may not wait, in the background
   * after an error.
   *
   * @param planOf called again for every attempt
   * @param take called in the same tick in which the grant was verified, so that nothing comes in between
   */
  async enter<T>(
    acquisition: Acquisition,
    planOf: PlanOf,
    take: (granted: GrantedAttempt) => T,
  ): Promise<T | undefined> {
    const { context, directory } = this;
    const { wait } = acquisition;
    for (;;) {
      const planned = planOf(wait);
      const plan = planned instanceof Promise ? await planned : planned; // the first request goes out in this tick
      const data = this.data ?? context.nodeData;
      const attempt = new LockAttempt(context, plan, directory, data, acquisition);
      const { node } = attempt;
      const waiterId = () => node.path;
      wait.waiterId = waiterId;
      try {
        let state = await attempt.advance();
        while (state === 'blocked' && acquisition.mayWait) {
          await attempt.untilUnblocked();
          state = await attempt.advance();
        }
        wait.throwIfEnded(); // a grant that comes too late is none
        const { session } = context.connection;
        if (state === 'granted' && session && node.belongsTo(session))
          return take({ attempt, session, plan });
        const removed = this.#giveUp(attempt, acquisition);
        if (state !== 'blocked') continue;
        await removed;
        return undefined;
      } catch (error) {
        void this.#giveUp(attempt, acquisition);
        throw error;
      }
    }
  }

  async #giveUp(attempt: LockAttempt, acquisition: Acquisition): Promise<void> {
    attempt.ownWatch?.stop();
    const isGone = await this.context.removals.remove(attempt.node);
    attempt.left(isGone);
    if (!isGone) acquisition.discardMade?.();
  }
}

/**
 * Behaviour shared by all reentrant locks of this backend (Curator's `LockInternals`): re-entry, queueing, holding.
 */
export class LockInternals {
  readonly identity: LockIdentity;
  readonly #queue: LockQueue;

  constructor(
    private readonly context: RecipeContext,
    recipe: LockRecipe,
    private readonly driver: LockInternalsDriver,
    readonly settings: LockSettings,
  ) {
    const { path, data } = settings;
    this.identity = { scope: context, recipe, name: path, client: context.client };
    this.#queue = new LockQueue(context, path, data);
  }

  /** Name of the client. */
  get client(): string {
    return this.context.client;
  }

  /**
   * Returns another lease on the caller's hold, if there is one.
   *
   * @throws LockOptionsError
   * @throws LockAbortedError
   */
  reenter(options: AcquireOptions): ZooKeeperLease | undefined {
    const about = { key: this.settings.key, client: this.client };
    validateAcquireOptions(options, about);
    const hold = this.held();
    if (hold === undefined) return undefined;
    if (options.signal?.aborted)
      throw new LockAbortedError({ ...about, cause: options.signal.reason });
    return new ZooKeeperLease(hold);
  }

  /** The caller's hold of this lock, if any. */
  held(): Hold<LockHold> | undefined {
    return LeaseScope.find(this.identity) as Hold<LockHold> | undefined; // the scope is ours, so the backend is too
  }

  /**
   * The plan of a caller outside any held lock.
   *
   * @throws LockClientClosedError when the client shuts down
   */
  newcomerPlan(): AttemptPlan {
    refuseUnlessAccepted(this.context, this.settings.key, LeaseScope.isInsideLock());
    return { driver: this.driver };
  }

  /**
   * Queues until the lock is held.
   *
   * @param planOf for a caller inside another lock
   */
  acquire(options: AcquireOptions, planOf?: PlanOf): Promise<ZooKeeperLease> {
    const { wait = this.context.wait, signal, method } = options;
    const granted = this.#grant({ ...options, wait, signal, method }, true, planOf);
    return granted as Promise<ZooKeeperLease>; // an acquire that may wait ends with a lease or an error
  }

  /** Makes one attempt, which waits only for the connection. */
  tryAcquire(options: AcquireOptions, planOf?: PlanOf): Promise<ZooKeeperLease | undefined> {
    const { wait = this.context.connectTimeout, signal, method } = options;
    return this.#grant({ ...options, wait, signal, method }, false, planOf);
  }

  /** Paths of the children in queue order. */
  async participants(isOurs: (name: string) => boolean = () => true): Promise<string[]> {
    const { path } = this.settings;
    const children = await listChildren(this.context.connection, path);
    const sorted = sortedNames(children.filter(isOurs), this.driver.sortKey);
    return sorted.map((name) => `${path}/${name}`);
  }

  #grant(
    options: AcquireOptions,
    mayWait: boolean,
    planOf?: PlanOf,
  ): Promise<ZooKeeperLease | undefined> {
    const { context, identity } = this;
    const { key, handOff } = this.settings;
    const { recipe, name } = identity;
    const { method } = options;
    const plans = planOf ?? (() => this.newcomerPlan());
    return runAcquisition(context, { key, recipe, options, mayWait }, (acquisition) => {
      const holder = () => ownHolder(context, [name]) ?? acquisition.holder;
      acquisition.wait.holder = holder;
      if (handOff === undefined || planOf !== undefined)
        return this.#queue.enter(acquisition, plans, (grant) => this.#granted(grant, method));
      const place = context.lines.join(name) as Place;
      const take = (grant: GrantedAttempt) => this.#granted(grant, method, place);
      const enter = () => this.#queue.enter(acquisition, plans, take);
      const takeOver = (handed: Handed) => this.#handedOn(handed, method, place);
      return standInLine(place, acquisition, recipe, enter, takeOver);
    });
  }

  #granted({ attempt, session, plan }: GrantedAttempt, method?: string, place?: Place) {
    const onRemoved = (areGone: boolean) => attempt.left(areGone);
    return this.#lease({ session, nodes: [attempt], onRemoved }, method, place, plan.token);
  }

  #handedOn(handed: Handed, method: string | undefined, place: Place) {
    if (!(handed instanceof SharedHold)) return this.#lease(handed, method, place);
    return new ZooKeeperLease(handed.join(place, method) as Hold<LockHold>);
  }

  #lease(
    { session, nodes, onRemoved, tenure }: HandedNodes,
    method?: string,
    place?: Place,
    token?: bigint,
  ): ZooKeeperLease {
    const { key, errorPolicy, handOff } = this.settings;
    const { hold } = new LockHold(this.context, {
      identity: this.identity,
      key,
      method,
      session,
      nodes,
      errorPolicy,
      onRemoved,
      token,
      handOff,
      place,
      tenure,
    });
    return new ZooKeeperLease(hold);
  }
}
