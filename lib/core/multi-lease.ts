import { HeldLease } from './held-lease.js';
import type { Hold } from './hold.js';
import type { Lease } from './lease.js';
import type { MultiHold } from './multi-hold.js';

/** The lease of a `MultiLock`. It is lost when one of its parts is, and when one of them was released by itself. */
export class MultiLease extends HeldLease<MultiHold> {
  constructor(
    hold: Hold<MultiHold>,
    /** Of the parts, in the order of their names. */
    readonly leases: readonly Lease[],
  ) {
    super(hold);
  }

  /** As `Lease.run`; inside, acquires of each part re-enter it. */
  override async run<T>(fn: () => Promise<T> | T): Promise<T> {
    this.assertHeld();
    const whole = () => super.run(fn);
    return await this.leases.reduceRight((inner, lease) => () => lease.run(inner), whole)();
  }
}
