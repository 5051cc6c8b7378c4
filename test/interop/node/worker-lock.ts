import type { WorkerHold } from './worker-hold.js';

/** The lock that a member of the fleet acquires again and again. */
export interface WorkerLock<H extends WorkerHold> {
  /** Waits for it; `undefined` when that took so long that it may be time to rest. */
  acquire(): Promise<H | undefined>;
}
