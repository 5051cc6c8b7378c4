import { type Clock, systemClock } from './clock.js';
import { LockTimeoutError } from './errors/index.js';
import { runWithLease } from './internal/lease-handle.js';
import {
  besideParts,
  mayBeTwins,
  MultiHold,
  MultiLease,
  orderedLocks,
} from './internal/multi-lease.js';
import { validateAcquireOptions } from './internal/validation.js';
import type { Lease } from './lease.js';
import type { AcquireOptions, Lock, LockIdentity, Wait } from './lock.js';

/**
 * Acquires all of a set of locks, or none: resolves to their leases in the same order, or to `undefined` when another
 * holder has one of them and it may not wait. Rejects as `Lock.acquire` does.
 */
export type AcquireAll = (
  options: AcquireOptions,
  mayWait: boolean,
) => Promise<readonly Lease[] | undefined>;

/** Options of a {@link MultiLock}. */
export interface MultiLockOptions {
  /**
   * Bound of an acquire without `wait`.
   *
   * @default 'forever'
   */
  readonly wait?: Wait | undefined;
  /** @default the system's monotonic clock */
  readonly clock?: Clock | undefined;
  /**
   * Returns a function that acquires all of the distinct locks at once, or none; `undefined` if that is not possible.
   *
   * @default one after the other
   */
  readonly takeTogether?: ((locks: readonly Lock[]) => AcquireAll | undefined) | undefined;
}

/**
 * Several locks as one, of any clients and backends; Curator's `InterProcessMultiLock`.
 *
 * They are acquired one after the other in the order of their names, in whatever order they were given, so multi-locks never
 * deadlock with each other. One deadline bounds them all. If one is not granted, those already held are released in reverse
 * order.
 */
export class MultiLock implements Lock {
  readonly key: string;
  readonly identity: LockIdentity;
  /** The distinct locks, in the order in which they are acquired. */
  readonly locks: readonly Lock[];
  readonly #wait: Wait;
  readonly #clock: Clock;
  readonly #takeTogether?: AcquireAll;
  readonly #mayBeTwins: boolean;

  /**
   * @param locks at least one. A duplicate counts once; a multi-lock is replaced by its parts
   * @throws LockOptionsError when there are none, or when two of them exclude each other: a read and a write lock of the
   *   same key, a semaphore twice, or the same key of two clients that use the same servers
   */
  constructor(locks: readonly Lock[], options: MultiLockOptions = {}) {
    const { wait = 'forever', clock = systemClock } = options;
    validateAcquireOptions({ wait });
    const given = Array.isArray(locks) ? (locks as readonly Lock[]) : [];
    this.locks = orderedLocks(given.flatMap((lock) => (isMulti(lock) ? lock.locks : [lock])));
    this.#mayBeTwins = mayBeTwins(this.locks);
    this.key = this.locks.map(({ key }) => key).join(' + ');
    const name = this.locks.map(({ identity }) => identity.name).join(' + ');
    this.identity = { scope: this, recipe: 'multiLock', name };
    this.#wait = wait;
    this.#clock = clock;
    this.#takeTogether = options.takeTogether?.(this.locks);
  }

  async acquire(options: AcquireOptions = {}): Promise<MultiLease> {
    const lease = await this.#take(options, true);
    return lease!; // a part that may wait yields a lease or an error
  }

  tryAcquire(options: AcquireOptions = {}): Promise<MultiLease | undefined> {
    return this.#take(options, false);
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async #take(given: AcquireOptions, mayWait: boolean): Promise<MultiLease | undefined> {
    validateAcquireOptions(given, this, ['lease', 'maxHold']); // each part checks them again
    const options = mayWait ? { ...given, wait: given.wait ?? this.#wait } : given;
    const startedAt = this.#clock.now();
    for (;;) {
      const leases = await this.#takeParts(options, startedAt, mayWait);
      if (leases === undefined) return undefined;
      if (leases.every(({ isHeld }) => isHeld))
        return new MultiLease(new MultiHold(this.identity, this.key, leases).hold, leases);
      void giveBack(leases); // one was lost while waiting for a later one: start again within the same bounds
    }
  }

  async #takeParts(
    options: AcquireOptions,
    startedAt: number,
    mayWait: boolean,
  ): Promise<readonly Lease[] | undefined> {
    const leases: Lease[] = [];
    try {
      if (this.#takeTogether)
        return await this.#takeTogether(this.#rest(options, startedAt), mayWait);
      for (const lock of this.locks) {
        if (this.#mayBeTwins) orderedLocks(this.locks); // throws; more is known of the servers than before the last part
        const rest = besideParts(this.#rest(options, startedAt), leases);
        const lease = await (mayWait ? lock.acquire(rest) : lock.tryAcquire(rest));
        if (lease === undefined) return void (await giveBack(leases));
        leases.push(lease);
      }
      return leases;
    } catch (error) {
      void giveBack(leases);
      throw this.#asWhole(error, options);
    }
  }

  /** The options for the next part, with the remaining `wait`. */
  #rest(options: AcquireOptions, startedAt: number): AcquireOptions {
    const { wait, method } = options;
    if (typeof wait !== 'number') return options;
    const rest = startedAt + wait - this.#clock.now();
    if (rest <= 0) throw new LockTimeoutError(wait, { key: this.key, method });
    return { ...options, wait: rest };
  }

  /** Replaces the timeout of a part, which knows only its remaining `wait`. */
  #asWhole(error: unknown, { wait, method }: AcquireOptions): unknown {
    if (!(error instanceof LockTimeoutError) || typeof wait !== 'number') return error;
    return new LockTimeoutError(wait, { key: this.key, method, cause: error });
  }
}

/** True for a `MultiLock` of another copy of this package too: to avoid deadlock, all parts must be acquired in one order. */
const isMulti = (lock: Lock | undefined): lock is MultiLock =>
  lock?.identity?.recipe === 'multiLock';

async function giveBack(leases: readonly Lease[]): Promise<void> {
  await Promise.allSettled(leases.toReversed().map((lease) => lease.release()));
}
