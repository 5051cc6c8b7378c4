import type { Wait } from '../../core/lock.js';
import type { Bag } from '../../core/internal/swap-remove-set.js';
import type { ClientHold } from '../../core/internal/hold.js';
import type { Clock } from '../../core/clock.js';
import type { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { Renewal } from '../connection/watchdog.js';
import type { ReplicaPolicy } from '../connection/replica-policy.js';
import type { ContenderLines } from './line.js';
import type { GuaranteedRelease } from './guaranteed-release.js';
import type { RequestRecords } from './request-numbers.js';

/** What one client shares with all of its recipes. Its identity is the scope of re-entry. Times in milliseconds. */
export interface RecipeContext {
  /** Name of the client. */
  readonly client: string;
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly events: LockEventEmitter;
  readonly renewal: Renewal;
  readonly releases: GuaranteedRelease;
  readonly lines: ContenderLines;
  readonly requests: RequestRecords;
  /** Bound of an acquire that names none. */
  readonly wait: Wait;
  /** Bound on `tryAcquire` without a `wait`, which only waits for a connection. */
  readonly connectTimeout: number;
  /** The lease of a lock that is renewed. */
  readonly watchdogTimeout: number;
  /** What each waiter of a fair lock adds to the deadline of those behind it. */
  readonly fairLockWaitTimeout: number;
  readonly replicas?: ReplicaPolicy;
  /** A new owner: `<uuid of the client>:<number>`, never the same twice. */
  newHolder(): string;
  /** To whom anything is granted: from shutdown on only inside of locks that are held, in the end to nobody. */
  admits: 'all' | 'insiders' | 'nobody';
  /** Acquires under way. */
  readonly waits: Bag<WaitScope>;
  /** Locks held. */
  readonly holds: Bag<ClientHold>;
}
