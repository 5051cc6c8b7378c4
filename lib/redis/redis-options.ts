import type { Wait } from '../core/lock.js';
import type { RedisClient, RedisNode } from './connection/ioredis.js';
import type { ReplicaPolicy } from './connection/replica-policy.js';
import type { BackOff } from './locks/back-off.js';

/** Which mutex it is. Everybody who uses the key has to choose the same. */
export interface RedisMutexOptions {
  /**
   * Whoever queued first is served first, across processes: Redisson's `RFairLock`. A waiter costs a command every third of
   * the `watchdogTimeout`.
   *
   * @default false
   */
  readonly fair?: boolean;
  /**
   * The fencing token comes with the grant, as from Redisson's `RFencedLock`; without, it is fetched when it is first asked
   * for.
   *
   * @default false
   */
  readonly fenced?: boolean;
}

/** How a read/write lock decides between readers and writers. */
export interface RedisReadWriteLockOptions {
  /**
   * Readers of this library wait for a writer of this library that waits, so that readers who overlap do not keep it out.
   * Redisson's neither respect nor cause it.
   *
   * @default false
   */
  readonly preferWriters?: boolean;
}

/** Options of a semaphore on Redis. */
export interface RedisSemaphoreOptions {
  /**
   * How many permits there are: a whole number from 1 to 2^31 - 1. It is set where the semaphore is new, and where it differs
   * from what the clients of this library last said: so a deployment with another number changes it. A number that was set by
   * Redisson, or with `setPermits`, stays.
   *
   * @default as many as there are on the server: none, until somebody sets them
   */
  readonly permits?: number;
  /**
   * Are waiters of this library served in the order of coming? Redisson's, and clients without the option, go ahead of them.
   *
   * @default false
   */
  readonly fair?: boolean;
}

/** Options of a spin lock. */
export interface RedisSpinLockOptions {
  /**
   * The delays between two questions: `ExponentialBackOff`, `ConstantBackOff`, or one of your own. None is longer than the
   * holder's lease.
   *
   * @default new ExponentialBackOff()
   */
  readonly backOff?: BackOff;
}

/** Options of a lock client on Redis. Exactly one of `client`, `connect`, `cluster` and `nodes`. Times are in milliseconds. */
export interface RedisLockOptions {
  /**
   * An ioredis `Redis` or `Cluster` of yours, version 5 or 6, which is a template: the lock client makes duplicates of it
   * for its commands and its messages. So yours is never used or closed, and locks go on when you close it.
   */
  readonly client?: RedisClient;
  /**
   * A URL such as `'redis://localhost:6379'`, or ioredis' `RedisOptions`, those of Sentinels too. Without a `socketTimeout`
   * of its own, a connection is given up that owes an answer for a third of the `watchdogTimeout`, 5 s at least.
   */
  readonly connect?: string | object;
  /** A Redis Cluster: some of its nodes, as URLs or `{ host, port }`, and ioredis' `ClusterOptions`. */
  readonly cluster?: {
    readonly nodes: readonly (string | { readonly host: string; readonly port: number })[];
    readonly options?: object;
  };
  /**
   * Independent servers, of which a majority has to grant each lock (RedLock): an odd number from 3, each as `connect` or
   * `client`; everywhere in the same order. Such a client has mutexes only.
   */
  readonly nodes?: readonly (string | object | RedisNode)[];
  /**
   * With `nodes`: how long one server is waited for, from 1 ms to a third of the `watchdogTimeout`; let it be far below.
   *
   * @default a hundredth of the `watchdogTimeout`, from 50 to 500: 300
   */
  readonly nodeTimeout?: number;
  /**
   * Bound on the first connection, and on a `tryAcquire` without a `wait` that finds no connection.
   *
   * @default 15000
   */
  readonly connectTimeout?: number;
  /**
   * The lease of a lock that is renewed, every third of it: a crashed process blocks others for this long. Whole
   * milliseconds from 100 to 2^31 - 1. Redisson's `lockWatchdogTimeout`.
   *
   * @default 30000
   */
  readonly watchdogTimeout?: number;
  /**
   * How long a dead waiter of Redisson at the head of the queue of a fair lock is waited for. Everybody who queues adds it to
   * a deadline, and whoever is served subtracts it from those of others: let it be the same everywhere, as Redisson's option
   * of that name. Whole milliseconds from 1 to 2^31 - 1.
   *
   * @default 300000
   */
  readonly fairLockWaitTimeout?: number;
  /**
   * Put before every key, as a `NameMapper` of Redisson would.
   *
   * @default ''
   */
  readonly prefix?: string;
  /**
   * Bound of an acquire that names none.
   *
   * @default 'forever'
   */
  readonly wait?: Wait;
  /**
   * Whether to wake waiters by sharded channels; of a cluster only. `'auto'`, as Redisson: where the servers have them.
   * Everybody who uses the locks has to do the same.
   *
   * @default 'auto'
   */
  readonly shardedSubscriptionMode?: 'auto' | 'on' | 'off';
  /**
   * On how many replicas a grant must be before it counts.
   *
   * @default none: a failover may forget locks
   */
  readonly replicas?: ReplicaPolicy;
}
