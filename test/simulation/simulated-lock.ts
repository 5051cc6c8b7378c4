import type { LockErrorCode } from '../../lib/core/errors/lock-error.js';
import type { Lock } from '../../lib/core/lock.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { SimulatedClient } from './simulated-client.js';

/** The required outcome of an acquire in the scope of others. */
export type Prospect =
  | { readonly kind: 'queue' }
  /** One more lease on that hold, at once. */
  | { readonly kind: 're-enter'; readonly hold: ObservedHold }
  /** A node with the number of that hold's, so that no other node comes in between. */
  | { readonly kind: 'downgrade'; readonly hold: ObservedHold }
  | { readonly kind: 'refuse'; readonly code: LockErrorCode };

/** One lock of the world, for its users. */
export interface SimulatedLock {
  readonly key: string;
  /** The queue with the nodes that it is held by; none if it consists of parts. */
  readonly queue?: LockQueue;
  /** The queue to wait in before entering `queue`. */
  readonly gate?: LockQueue;
  /** Parts of a multi-lock, in the order in which it has to acquire them. */
  readonly parts?: readonly SimulatedLock[];
  /** Maximum number of permits to ask for. Default: one. */
  readonly permits?: number;
  /** False: a holder that asks again waits like any other client. */
  readonly isReentrant: boolean;
  /** The lock of the library. */
  of(client: SimulatedClient): Lock;
  /** @param live holds in the scope of which it is requested, innermost first */
  prospect(live: readonly ObservedHold[]): Prospect;
}
