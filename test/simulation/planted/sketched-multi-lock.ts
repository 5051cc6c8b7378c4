import type { Clock } from '../../../lib/core/clock.js';
import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import { runWithLease } from '../../../lib/core/internal/lease-handle.js';
import { MultiHold, MultiLease } from '../../../lib/core/internal/multi-lease.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions, Lock } from '../../../lib/core/lock.js';

/** The faults of a {@link SketchedMultiLock}. Default: none. */
export interface Faults {
  /** Releases nothing when it fails. */
  readonly isKeeping?: boolean;
  /** Acquires the parts in the order in which they are given. */
  readonly isUnordered?: boolean;
  /** Has a deadline for each part. */
  readonly isSlow?: boolean;
  /** Does not listen for the loss of a part. */
  readonly isNumb?: boolean;
  /** Does not ask for the first part when it has the last one. */
  readonly isHasty?: boolean;
}

/** A multi-lock of two parts, with faults: to check that they are found. */
export class SketchedMultiLock implements Lock {
  readonly #parts: readonly Lock[];

  constructor(
    parts: readonly Lock[],
    private readonly clock: Clock,
    private readonly faults: Faults,
  ) {
    this.#parts = faults.isUnordered ? parts : parts.toReversed();
  }

  readonly key = 'a + b';

  readonly identity: Lock['identity'] = { scope: this, recipe: 'multiLock', name: this.key };

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const lease = await this.#take(options, (part, rest) => part.acquire(rest));
    return lease!;
  }

  tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    return this.#take(options, (part, rest) => part.tryAcquire(rest));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async #take(
    { wait, signal }: AcquireOptions,
    take: (part: Lock, rest: AcquireOptions) => Promise<Lease | undefined>,
  ): Promise<Lease | undefined> {
    const end = typeof wait === 'number' ? this.clock.now() + wait : Infinity;
    for (;;) {
      const leases: Lease[] = [];
      try {
        for (const part of this.#parts) {
          const rest = this.faults.isSlow ? wait : end - this.clock.now();
          if (typeof rest === 'number' && rest <= 0) throw new LockTimeoutError(rest, this);
          const lease = await take(part, { wait: rest === Infinity ? undefined : rest, signal });
          if (!lease) return void (await this.#giveBack(leases));
          leases.push(lease);
        }
      } catch (error) {
        void this.#giveBack(leases);
        throw error;
      }
      if (this.faults.isHasty || leases.every(({ isHeld }) => isHeld)) return this.#hold(leases);
      for (const lease of leases) void lease.release();
    }
  }

  async #giveBack(leases: readonly Lease[]): Promise<void> {
    if (!this.faults.isKeeping) await Promise.all(leases.map((lease) => lease.release()));
  }

  #hold(leases: readonly Lease[]): Lease {
    const multi = new MultiHold(this.identity, this.key, leases);
    if (this.faults.isNumb) multi.hold.markLost = () => {};
    return new MultiLease(multi.hold, leases);
  }
}
