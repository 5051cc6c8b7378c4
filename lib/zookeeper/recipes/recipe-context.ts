import type { Wait } from '../../core/lock.js';
import type { Bag } from '../../core/internal/swap-remove-set.js';
import type { ClientHold } from '../../core/internal/hold.js';
import type { Clock } from '../../core/clock.js';
import type { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { RetryPolicy } from '../connection/retry-policies.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { GuaranteedDelete } from './guaranteed-delete.js';
import type { LongHolds } from './long-holds.js';
import type { LockParents } from './lock-parents.js';
import type { ServedNodes } from './served-nodes.js';
import type { SoleChildMemory } from './sole-child-memory.js';

/** What one client shares with all of its recipes. Its identity is the scope of re-entry. */
export interface RecipeContext {
  /** Name of the client. */
  readonly client: string;
  readonly connection: ZooKeeperConnection;
  readonly clock: Clock;
  readonly events: LockEventEmitter;
  readonly retryPolicy: RetryPolicy;
  readonly parents: LockParents;
  readonly removals: GuaranteedDelete;
  readonly soleChildren: SoleChildMemory;
  readonly servedNodes: ServedNodes;
  readonly longHolds: LongHolds;
  /** Bound of an acquire that names none. */
  readonly wait: Wait;
  /** Bound on `tryAcquire` without a `wait`, which only waits for a connection; milliseconds. */
  readonly connectTimeout: number;
  /** Data of lock nodes. */
  nodeData: Buffer;
  /** To whom anything is granted: from shutdown on only inside of locks that are held, in the end to nobody. */
  admits: 'all' | 'insiders' | 'nobody';
  /** Acquires under way. */
  readonly waits: Bag<WaitScope>;
  /** Locks held. */
  readonly holds: Bag<ClientHold>;
}
