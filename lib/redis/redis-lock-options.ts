import type { Wait } from '../core/lock.js';
import type { RedisClient, RedisNode } from './connection/ioredis.js';
import type { ReplicaPolicy } from './connection/replica-policy.js';

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
