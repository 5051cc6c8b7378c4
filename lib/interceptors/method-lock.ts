import { Logger } from '@nestjs/common';
import type { LockClientRegistry } from '../clients/lock-client.registry.js';
import {
  type AcquireOptions,
  type Lease,
  type Lock,
  type LockLostError,
  LockOptionsError,
  LockTimeoutError,
} from '../core/index.js';
import { LeaseHandle } from '../core/internal/lease-handle.js';
import { onAbort } from '../core/internal/timers.js';
import type { LeaderElection } from '../elections/leader-election.js';
import type { LeaderElections } from '../elections/leader-elections.js';
import type { LeaderTarget, LockPlan } from '../interfaces/lock-plan.interface.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { withMethodInErrors } from '../plans/define-plan.js';
import { keyResolver, multiLockResolver } from './lock-resolver.js';
import { runUnderLease } from './run-under-lease.js';

const logger = new Logger('LockModule');

/**
 * Bounds how long a run of `@RunOnce` excludes the others, from now on; logs a warning when its lock is lost.
 *
 * @throws LockOptionsError when the lease is not of a client of this library: only those support the bounds
 */
function limitRunTime(
  lease: Lease,
  { atMost, atLeast }: NonNullable<LockPlan['once']>,
  method: string,
): void {
  if (!(lease instanceof LeaseHandle)) {
    void lease.release();
    throw new LockOptionsError('client', undefined, `a client of this library, to ${method}`);
  }
  const { hold, signal } = lease;
  hold.atLeast = atLeast;
  hold.revokeAfter(atMost, `it was held for its \`atMost\` of ${atMost} ms`);
  const warn = () => {
    const { message } = signal.reason as LockLostError;
    logger.warn(`${method} is still running, and other callers may run it now: ${message}`);
  };
  onAbort(signal, warn);
}

/** The leadership of the app as a lock: it is acquired at once or not at all. */
class LeaderLock {
  readonly #election: LeaderElection;

  /** @throws LockClientUnknownError, LockKeyError naming the method */
  constructor(plan: LockPlan, { key }: LeaderTarget, elections: LeaderElections) {
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

/** Minimum bound on the wait of a `@RunOnce` call for the server, in ms. */
const SERVER_PATIENCE = 5_000;

/** The lock that a call acquires. One that cannot be waited for has no `acquire`. */
type Taken = Pick<Lock, 'key' | 'tryAcquire'> & Partial<Pick<Lock, 'acquire'>>;

/** A {@link LockPlan} with the locks that it asks for. */
export class MethodLock {
  readonly #lockOf: (args: unknown[]) => Taken;
  readonly #options: AcquireOptions & { readonly lease?: number; readonly minLease?: number };

  /** @throws LockClientUnknownError, LockKeyError, LockOptionsError naming the method, for errors detectable before a call */
  constructor(
    private readonly plan: LockPlan,
    clients: LockClientRegistry,
    elections: LeaderElections,
  ) {
    const { options } = plan;
    const { lease } = options;
    const minLease = plan.once?.atLeast;
    // A run that starts later than `atLeast` may repeat one that another replica has done.
    const wait = minLease === undefined ? options.wait : Math.max(minLease, SERVER_PATIENCE);
    this.#options = { wait, lease, minLease, method: plan.method };
    this.#lockOf = lockOf(plan, clients, elections);
  }

  /**
   * Runs `proceed` under the lock; settles as it does, or as `onBusy` and `onLost` say.
   *
   * @param signal aborts the wait
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
      if (plan.once && error.waitedMs > 0) throw error; // unknown whether another replica runs it
      return onBusy === 'skip' ? undefined : onBusy(error, ...(args as never[]));
    }
    if (plan.once) limitRunTime(lease, plan.once, plan.method);
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

  /** Name of the client; `undefined` for a multi-lock, as its locks may be of several clients. */
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
  if (lock.recipe === 'multiLock') return multiLockResolver(plan, lock, clients);
  if (lock.recipe !== 'leaderLatch') return keyResolver(plan, lock, clients);
  const leadership = new LeaderLock(plan, lock, elections);
  return () => leadership;
}
