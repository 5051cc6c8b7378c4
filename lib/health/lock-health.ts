import type { LockClientStatus } from '../core/index.js';

/** What a health check tells of a lock client. */
export interface LockHealth extends LockClientStatus {
  /** Milliseconds that the servers took to answer, where they have. */
  readonly latency?: number;
  /** Why there was no answer. */
  readonly message?: string;
}
