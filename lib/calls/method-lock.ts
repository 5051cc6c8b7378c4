import {
  type AcquireOptions,
  type Lease,
  type Lock,
  LockOptionsError,
  LockTimeoutError,
} from '../core/index.js';
import { isSignal } from '../core/internal/validation.js';
import type { LeaderTarget, LockedCall, LockPlan } from '../interfaces/lock-plan.interface.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { naming, withMethodInErrors } from '../plans/define-plan.js';
import { withPolicies } from '../plans/plan-metadata.js';
import type { CallContext } from './call-context.js';
import { keyResolver, multiLockResolver } from './lock-resolver.js';
import { isOnce, type RunOnceCall, RunOnceRules } from './run-once.js';
import { runUnderLease } from './run-under-lease.js';

type Elections = NonNullable<CallContext['elections']>;
type Election = ReturnType<Elections['of']>;

/** The leadership of the app as a lock: it is acquired at once or not at all. */
class LeaderLock {
  readonly #election: Election;

  /** @throws LockClientUnknownError, LockKeyError naming the method */
  constructor(plan: LockPlan, { key }: LeaderTarget, elections: Elections) {
    const { options, method } = plan;
    this.#election = withMethodInErrors(plan, () => {
      const election = elections.of(key, options, method);
      election.join(method);
      return election;
    });
  }

  get key(): string {
    return this.#election.name;
  }

  async tryAcquire(): Promise<Lease | undefined> {
    return this.#election.enter();
  }
}

/** The lock that a call acquires. One that cannot be waited for has no `acquire`. */
type Taken = Pick<Lock, 'key' | 'tryAcquire'> & Partial<Pick<Lock, 'acquire'>>;

/** A {@link LockPlan} with the locks that it asks for. */
export class MethodLock {
  readonly #lockOf: (call: LockedCall) => Taken;
  readonly #options: AcquireOptions & { lease?: number; maxHold?: number; minLease?: number };
  readonly #once?: RunOnceRules;
  private readonly plan: LockPlan;

  /** @throws LockClientUnknownError, LockKeyError, LockOptionsError naming the method, for errors detectable before a call */
  constructor(
    given: LockPlan,
    private readonly context: CallContext,
  ) {
    const { clients, logger } = context;
    const plan = (this.plan = withPolicies(given, clients.policiesOf(given.options.client)));
    const { options, once, method } = plan;
    const { wait, lease, maxHold } = options;
    if (isOnce(plan))
      this.#once = new RunOnceRules(plan, clients.get(options.client, method), logger);
    this.#options = { wait, lease, maxHold, minLease: once?.atLeast, method };
    this.#lockOf = lockOf(plan, context);
  }

  /** Resolves when calls can be made; rejects with `LockOptionsError` naming the method. */
  async ready(): Promise<void> {
    await this.#once?.ready();
  }

  /**
   * Runs the method under the lock; settles as it does, or as `onBusy` and `onLost` say.
   */
  async run(call: LockedCall): Promise<unknown> {
    const { plan } = this;
    const { onBusy = 'throw' } = plan.options;
    const once = this.#once?.begin();
    const lock = this.#lockOf(call);
    const signal = this.#signalOf(call); // out of the try: what a function of the user throws passes through
    let lease: Lease;
    try {
      if (once?.hasOccurrence && (await once.isOver(lock.key))) return undefined;
      lease = await this.#acquire(lock, signal, once);
    } catch (error) {
      if (onBusy === 'throw' || !(error instanceof LockTimeoutError)) throw error;
      if (plan.once && error.waitedMs > 0) throw error; // unknown whether another replica runs it
      if (onBusy === 'skip') return undefined;
      return onBusy.call(call.self, error, ...(call.args as never[]));
    }
    if (once?.hasOccurrence && !(await once.claim(lease))) return undefined;
    once?.admit(lease); // nothing is awaited between this and the method
    return await runUnderLease(lease, plan, call, this.context);
  }

  #acquire(lock: Taken, signal?: AbortSignal, once?: RunOnceCall): Promise<Lease> {
    const { wait, onBusy = 'throw' } = this.plan.options;
    const given = signal === undefined ? this.#options : { ...this.#options, signal };
    const options = once === undefined ? given : { ...given, wait: once.wait };
    const waits = wait !== undefined || onBusy === 'throw';
    return lock.acquire && waits ? lock.acquire(options) : this.#tryAcquire(lock, options);
  }

  /**
   * What aborts the wait of a call: the signal of the decorator, or of the call, as when the consumer of a stream leaves.
   *
   * @throws LockOptionsError naming the method
   */
  #signalOf({ self, args, signal: left }: LockedCall): AbortSignal | undefined {
    const { signal: given } = this.plan.options;
    if (given === undefined) return left;
    const signal = typeof given === 'function' ? given.apply(self, args as never[]) : given;
    if (signal === undefined) return left;
    if (!isSignal(signal))
      throw naming(this.plan, new LockOptionsError('signal', signal, 'an AbortSignal'));
    return left === undefined ? signal : AbortSignal.any([signal, left]);
  }

  async #tryAcquire(lock: Taken, options: AcquireOptions): Promise<Lease> {
    const lease = await lock.tryAcquire(options);
    if (lease !== undefined) return lease;
    const { method } = this.plan;
    throw new LockTimeoutError(0, { key: lock.key, client: this.#client, method });
  }

  /** Name of the client; `undefined` for a multi-lock, as its locks may be of several clients. */
  get #client(): string | undefined {
    const { lock, options } = this.plan;
    return lock.recipe === 'multiLock' ? undefined : (options.client ?? DEFAULT_LOCK_CLIENT);
  }
}

function lockOf(plan: LockPlan, { clients, elections }: CallContext): (call: LockedCall) => Taken {
  const { lock } = plan;
  if (lock.recipe === 'multiLock') return multiLockResolver(plan, lock, clients);
  if (lock.recipe !== 'leaderLatch') return keyResolver(plan, lock, clients);
  const leadership = new LeaderLock(plan, lock, elections!);
  return () => leadership;
}
