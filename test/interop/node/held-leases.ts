import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';

/** What one actor holds, by the specifications of the locks. */
export class HeldLeases {
  /** The innermost lease last. */
  private readonly held: { readonly lock: string; readonly lease: Lease }[] = [];

  /** Acquires the lock in the scope of the leases that it holds, as a thread in Java does; false when the wait is over. */
  async acquire(lock: string, acquire: () => Promise<Lease | undefined>): Promise<boolean> {
    const inside = this.held.reduceRight(
      (inner, { lease }) =>
        () =>
          lease.run(inner),
      acquire,
    );
    try {
      const lease = await inside();
      if (lease) this.held.push({ lock, lease });
      return lease !== undefined;
    } catch (error) {
      if (error instanceof LockTimeoutError) return false;
      throw error;
    }
  }

  /** The innermost lease of that lock. */
  of(lock: string): Lease {
    return this.find(lock).lease;
  }

  /** Releases the most recently acquired lease of that lock. */
  async release(lock: string): Promise<void> {
    const found = this.find(lock);
    this.held.splice(this.held.indexOf(found), 1);
    await found.lease.release();
  }

  private find(lock: string) {
    const found = this.held.findLast((one) => one.lock === lock);
    if (!found) throw new Error(`Not held: ${lock}`);
    return found;
  }
}
