import type { Lease } from './lease.js';
import type { Lock } from './lock.js';
import type { PermitOptions } from './permit-options.js';

/** A number of permits: so many holders at a time. Not reentrant: a nested acquire takes another permit. */
export interface CountingSemaphore extends Lock {
  /** As `Lock.acquire`; the lease stands for all permits that were asked for. */
  acquire(options?: PermitOptions): Promise<Lease>;
  tryAcquire(options?: PermitOptions): Promise<Lease | undefined>;
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: PermitOptions): Promise<T>;
  /** How many permits nobody has, or waits to be given next. Out of date as soon as it is read. */
  availablePermits(): Promise<number>;
}
