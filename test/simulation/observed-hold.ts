import type { Lease } from '../../lib/core/lease.js';
import type { LockQueue } from './lock-queue.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';

/** One grant of a lock, as seen from outside: its leases, and the node on the server that it stands on. */
export interface ObservedHold {
  readonly id: number;
  readonly client: SimulatedClient;
  readonly queue: LockQueue;
  readonly node: QueuedNode;
  readonly grantedAt: number;
  /** Was the watch on the node set when it was granted? */
  readonly isWatched: boolean;
  /** Leases that are not released. */
  readonly leases: Set<Lease>;
  /** When its signal aborted. */
  lostAt?: number;
  /** When it was released or lost. */
  endedAt?: number;
}
