import type { LockClientStatus } from '../core/index.js';
import type { LeaderElectionState } from '../elections/leader-election.js';

/** What a health check tells of a lock client. */
export interface LockHealth extends LockClientStatus {
  /** Milliseconds that the servers took to answer, where they have. */
  readonly latency?: number;
  /** Why there was no answer. */
  readonly message?: string;
  /** What the app is in each of its elections on that client, by their names. */
  readonly elections?: Readonly<Record<string, LeaderElectionState>>;
}
