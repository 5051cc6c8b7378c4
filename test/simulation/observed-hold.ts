import type { Lease } from '../../lib/core/lease.js';
import type { LockQueue } from './lock-queue.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';

/** One grant of a lock, as seen from outside: its leases, and its nodes on the server. */
export interface ObservedHold {
  readonly id: number;
  readonly client: SimulatedClient;
  /** The lock of the world that it is a hold of. */
  readonly lock: object;
  /** The queue with its nodes; none if it consists of parts. */
  readonly queue?: LockQueue;
  /** In their order. */
  readonly nodes: readonly QueuedNode[];
  /** Parts of a multi-lock. */
  readonly parts: readonly { readonly lease: Lease; readonly hold: ObservedHold }[];
  readonly grantedAt: number;
  /** The nodes on which the watch was set when it was granted. */
  readonly watched: ReadonlySet<QueuedNode>;
  /** Leases that are not released. */
  readonly leases: Set<Lease>;
  /** When its signal aborted. */
  lostAt?: number;
  /** When it was released or lost. */
  endedAt?: number;
  /** When its last lease was released, lost or not. */
  releasedAt?: number;
}
