import type { WorkerHold } from './worker-hold.js';

/** What a member of the fleet takes again and again. */
export interface WorkerLock<H extends WorkerHold> {
  /** Waits for it; `undefined` when that took so long that it may be time to rest. */
  acquire(): Promise<H | undefined>;
}
