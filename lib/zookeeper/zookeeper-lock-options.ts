import type { Wait } from '../core/lock.js';
import type { ErrorPolicy } from '../core/election/election-backend.js';
import type { AclEntry, AuthInfo } from './connection/zookeeper-connection.js';
import type { RetryPolicy } from './connection/retry-policies.js';

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
   * The `tickTime` of the servers, in their configuration. So late their leader may be told that a client lives, so much
   * earlier we give a session up whose proofs fail to come. Set it where that of the servers is longer.
   *
   * @default 2000
   */
  readonly tickTime?: number;
  /**
   * What ends a hold of a lock, and with it a lease; Curator's `ConnectionStateErrorPolicy`. Elections have an option of their
   * own.
   *
   * - `'session'`: the loss of the session, or of the lock node. An interrupted connection does not, for as long as the servers
   *   keep the session.
   * - `'standard'`: an interrupted connection too, as Curator recommends to everybody: what acts under the lock stops at the
   *   first doubt. The lock is given back as soon as the servers can be reached.
   *
   * @default 'session'
   */
  readonly errorPolicy?: ErrorPolicy;
  /**
   * Bound on the first connection, and on a `tryAcquire` without a `wait` that finds no connection.
   *
   * @default 15000
   */
  readonly connectTimeout?: number;
  /**
   * Directory of all keys; each is one component in it, percent-encoded. To share locks with Apache Curator, give the
   * directory that they are in.
   *
   * @default '/locks'
   */
  readonly basePath?: string;
  /**
   * Is a key that starts with `/` the path itself, wherever that is? For sharing locks with Apache Curator that are not all in
   * one directory. Such a key reaches every node that `auth` may: never make it of what users send.
   *
   * @default false
   */
  readonly literalPaths?: boolean;
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
   * Access control list of the nodes that stay, which this client makes: directories of locks, counters, shared values,
   * barriers. Those that are there keep theirs. It keeps strangers from queueing, listing, deleting, and changing numbers; the
   * lock nodes in the directories are open, as the driver can make no others.
   *
   * @default open to everybody
   */
  readonly acl?: readonly AclEntry[];
}
