import { LockTimeoutError, type AcquireOptions, type Lease, type Lock } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import type { LeaderElections } from '../leader-elections.js';
import type { LockClientRegistry } from '../lock-client.registry.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { boundRun } from './bound-run.js';
import { keyedLockSource } from './keyed-lock-source.js';
import { LeaderLock } from './leader-lock.js';
import { multiLockSource } from './multi-lock-source.js';
import { runUnderLease } from './run-under-lease.js';

/** How long a run of `@RunOnce` waits for the server at least, in ms. */
const SERVER_PATIENCE = 5_000;

/** What a call takes. One that cannot be waited for has no `acquire`. */
type Taken = Pick<Lock, 'key' | 'tryAcquire'> & Partial<Pick<Lock, 'acquire'>>;

/** A {@link LockPlan} and the locks that it asks for. */
export class PlannedLock {
  readonly #lockOf: (args: unknown[]) => Taken;
  readonly #options: AcquireOptions & { readonly lease?: number; readonly minLease?: number };

  /** @throws LockClientUnknownError, LockKeyError, LockOptionsError naming the method, as far as it can be told yet */
  constructor(
    private readonly plan: LockPlan,
    clients: LockClientRegistry,
    elections: LeaderElections,
  ) {
    const { options } = plan;
    const { lease } = options;
    const minLease = plan.once?.atLeast;
    // A run that begins later than `atLeast` may be one that another replica has done.
    const wait = minLease === undefined ? options.wait : Math.max(minLease, SERVER_PATIENCE);
    this.#options = { wait, lease, minLease, method: plan.method };
    this.#lockOf = lockOf(plan, clients, elections);
  }

  /**
   * Runs `proceed` under the lock; settles as it does, or as `onBusy` and `onLost` say.
   *
   * @param signal ends the wait
   */
  async run(args: unknown[], proceed: () => unknown, signal?: AbortSignal): Promise<unknown> {
    const { plan } = this;
    const { onBusy = 'throw' } = plan.options;
    const lock = this.#lockOf(args);
    let lease: Lease;
    try {
      lease = await this.#acquire(lock, signal);
    } catch (error) {
      if (onBusy === 'throw' || !(error instanceof LockTimeoutError)) throw error;
      if (plan.once && error.waitedMs > 0) throw error; // nobody knows whether others run
      return onBusy === 'skip' ? undefined : onBusy(error, ...(args as never[]));
    }
    if (plan.once) boundRun(lease, plan.once, plan.method);
    return await runUnderLease(lease, plan, args, proceed);
  }

  #acquire(lock: Taken, signal?: AbortSignal): Promise<Lease> {
    const { wait, onBusy = 'throw' } = this.plan.options;
    const options = signal === undefined ? this.#options : { ...this.#options, signal };
    const waits = wait !== undefined || onBusy === 'throw';
    return lock.acquire && waits ? lock.acquire(options) : this.#tryAcquire(lock, options);
  }

  async #tryAcquire(lock: Taken, options: AcquireOptions): Promise<Lease> {
    const lease = await lock.tryAcquire(options);
    if (lease !== undefined) return lease;
    throw new LockTimeoutError(0, { key: lock.key, client: this.#client });
  }

  /** The name of the client; the parts of a multi-lock may be of several. */
  get #client(): string | undefined {
    const { lock, options } = this.plan;
    return lock.recipe === 'multiLock' ? undefined : (options.client ?? DEFAULT_LOCK_CLIENT);
  }
}

function lockOf(
  plan: LockPlan,
  clients: LockClientRegistry,
  elections: LeaderElections,
): (args: unknown[]) => Taken {
  const { lock } = plan;
  if (lock.recipe === 'multiLock') return multiLockSource(plan, lock, clients);
  if (lock.recipe !== 'leaderLatch') return keyedLockSource(plan, lock, clients);
  const leadership = new LeaderLock(plan, lock, elections);
  return () => leadership;
}
