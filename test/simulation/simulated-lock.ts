import type { LockErrorCode } from '../../lib/core/errors/lock-error.js';
import type { Lock } from '../../lib/core/lock.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { SimulatedClient } from './simulated-client.js';

/** What an acquire in the scope of others has to come to. */
export type Prospect =
  | { readonly kind: 'queue' }
  /** One more lease on that hold, at once. */
  | { readonly kind: 're-enter'; readonly hold: ObservedHold }
  /** A node with the number of that hold's, so that nobody comes in between. */
  | { readonly kind: 'downgrade'; readonly hold: ObservedHold }
  | { readonly kind: 'refuse'; readonly code: LockErrorCode };

/** One lock of the world, as its users can ask for it. */
export interface SimulatedLock {
  readonly key: string;
  /** Where the nodes stand that it is held by; none: it is made of parts. */
  readonly queue?: LockQueue;
  /** Where one waits before one may come to `queue`. */
  readonly gate?: LockQueue;
  /** What a multi-lock is made of, in the order in which it has to take them. */
  readonly parts?: readonly SimulatedLock[];
  /** How many permits there are to ask for at most. Default: one. */
  readonly permits?: number;
  /** False: who holds it and asks again waits like anybody else. */
  readonly isReentrant: boolean;
  /** As the library has it. */
  of(client: SimulatedClient): Lock;
  /** @param live holds in whose scope it is asked for, innermost first */
  prospect(live: readonly ObservedHold[]): Prospect;
}
