import type { Wait } from '../core/acquire-options.js';
import type { AclEntry } from './connection/acl.js';
import type { AuthInfo } from './connection/auth-info.js';
import type { RetryPolicy } from './connection/retry/retry-policy.js';

/** Options of a lock client on ZooKeeper. Times are in milliseconds, above 0 and below 2^31. */
export interface ZooKeeperLockOptions {
  /**
   * Servers and chroot: `'zk1:2181,zk2:2181,[::1]:2181/app'`. All paths are below the chroot, which is made where it is
   * missing.
   */
  readonly connect: string;
  /**
   * How long the servers keep our locks without hearing of us: a crashed process blocks others for this long, and a pause
   * longer than it loses the locks. The servers negotiate (by default to 40 s at most). Not below 10,000 in production.
   *
   * @default 30000
   */
  readonly sessionTimeout?: number;
  /**
   * Bound on the first connection, and on a `tryAcquire` without a `wait` that finds no connection.
   *
   * @default 15000
   */
  readonly connectTimeout?: number;
  /**
   * Directory of all keys that are not paths themselves.
   *
   * @default '/locks'
   */
  readonly basePath?: string;
  /**
   * Bound of an acquire that names none.
   *
   * @default 'forever'
   */
  readonly wait?: Wait;
  /**
   * When to try again what a lost connection interrupted. Waiting for the connection is bounded by the acquire's `wait`.
   *
   * @default new RetryForever(50)
   */
  readonly retryPolicy?: RetryPolicy;
  /** Credentials that every connection presents. */
  readonly auth?: readonly AuthInfo[];
  /**
   * Access control list of the directories that this client makes; those that are there stay as they are. It keeps
   * strangers from queueing, listing and deleting; the lock nodes inside are open, as the driver can make no others.
   *
   * @default open to everybody
   */
  readonly acl?: readonly AclEntry[];
}
