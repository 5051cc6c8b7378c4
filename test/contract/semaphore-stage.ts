import type { CountingSemaphore, PermitOptions } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import type { SemaphoreState } from './semaphore-state.js';
import type { StageClient } from './stage-client.js';

/** The semaphore of each test, whatever the backend. */
export interface SemaphoreStage {
  /** Is the first waiter served first? Else the first of each client is, and waiters that want less may be served first. */
  readonly isFair: boolean;
  /** Another way to say the key of the test, where there is one. */
  readonly alias: string;
  /** The semaphore of the test, as that client sees it. */
  of(client: StageClient, permits: number): CountingSemaphore;
  /** Has the client wait for it; resolves when it does, with the lease to come. */
  queue(
    client: StageClient,
    permits: number,
    options?: PermitOptions,
  ): Promise<{ lease: Promise<Lease> }>;
  /** Waits until it is in that state. */
  becomes(expected: SemaphoreState): Promise<void>;
  /** Another client releases one permit of that lease, on the servers. */
  evict(lease: Lease, permit?: number): Promise<void>;
}
