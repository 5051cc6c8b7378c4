import type { Wait } from '../core/lock.js';
import type { Clock } from '../core/clock.js';
import type { ErrorPolicy } from '../core/election/election-backend.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import type { AclEntry, ZooKeeperConnection } from './connection/zookeeper-connection.js';
import type { RetryPolicy } from './connection/retry-policies.js';
import type { LockPathSettings } from './lock-path.js';

/** What a client is made of. Times in milliseconds. */
export interface ZooKeeperLockClientSettings extends LockPathSettings {
  readonly name: string;
  readonly connection: ZooKeeperConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  /** Prefix of every path, without a slash at its end; made with the parents of a lock where it is missing. Default: none. */
  readonly chroot?: string;
  readonly connectTimeout: number;
  readonly wait: Wait;
  readonly retryPolicy: RetryPolicy;
  /** What ends a hold of a lock, elections aside. Default: `session`. */
  readonly errorPolicy?: ErrorPolicy;
  readonly acl?: readonly AclEntry[];
  /** Data of lock nodes that are given none. Default: the address of this host, asked for when it connects. */
  readonly nodeData?: Buffer;
  /** After that time a holder that did not queue has its node watched. Default: 100. */
  readonly watchAfter?: number;
}
