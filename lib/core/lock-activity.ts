import type { LockSubject } from './lock-events.js';

/**
 * What one acquire of a client is at: it is under way, or what it was granted is held.
 *
 * A multi-lock holds each of its parts; those that are taken together with one script are waited for as one, with its `key`.
 */
export interface LockActivity extends LockSubject {
  readonly state: 'waiting' | 'held';
  /** How long it has been so, in ms. */
  readonly forMs: number;
  /** Name of the lock on the servers; on ZooKeeper its path. Known once it is held. */
  readonly name?: string;
  /** Who holds, as the servers know it: on ZooKeeper the paths of its nodes, on Redis the ids of its holders. */
  readonly holders: readonly string[];
  /** On Redis, where it came with the grant or was asked for. */
  readonly fencingToken?: bigint;
}
