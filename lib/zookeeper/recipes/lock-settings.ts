import type { ErrorPolicy } from '../../core/election/election-backend.js';

/** What a client knows of a lock. */
export interface LockSettings {
  /** As the user gave it. */
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  /** Of its nodes; default: that of the client. */
  readonly data?: Buffer;
  /** What ends a hold on it beside its own loss. Default: the loss of the session only. */
  readonly errorPolicy?: ErrorPolicy;
}
