import type { WaiterLimits } from '../core/internal/waiter-limits.js';
import type { ReadWriteLockOptions, Wait } from '../core/lock.js';
import type { RenewalWorkerOptions } from '../core/worker/standby-thread.js';
import type { RedisNode } from './connection/ioredis.js';
import type { NodeRedisClient } from './node-redis/node-redis.js';
import type { ReplicaPolicy } from './connection/replicas.js';
import type { RedisDriver, UsersRedisClient } from './drivers.js';
import type { BackOff } from './locks/back-off.js';

/** Options that decide between readers and writers of a read/write lock. */
export interface RedisReadWriteLockOptions extends ReadWriteLockOptions {
  /**
   * Whether readers of this library wait for a waiting writer of this library, so that overlapping readers do not keep it
   * out. Redisson's clients neither respect nor cause this.
   *
   * @default false
   */
  readonly preferWriters?: boolean | undefined;
}

/** Options of a semaphore on Redis. */
export interface RedisSemaphoreOptions {
  /**
   * Number of permits: a whole number from 1 to 2^31 - 1. It is set if the semaphore is new, or if it differs from the number
   * that clients of this library last declared: so a deployment with another number changes it. A number set by Redisson, or
   * with `setPermits`, stays.
   *
   * @default as many as there are on the server: none, until somebody sets them
   */
  readonly permits?: number | undefined;
  /**
   * Whether waiters of this library are served in the order of the queue. Those of Redisson, and of clients without the
   * option, go ahead of them.
   *
   * @default false
   */
  readonly fair?: boolean | undefined;
}

/** Options of a spin lock. */
export interface RedisSpinLockOptions {
  /**
   * Delays between two attempts: `ExponentialBackOff`, `ConstantBackOff`, or your own back-off. No delay is longer than the
   * holder's lease.
   *
   * @default new ExponentialBackOff()
   */
  readonly backOff?: BackOff | undefined;
}

/** Options of a lock client on Redis. Exactly one of `client`, `connect`, `cluster` and `nodes`. Times are in milliseconds. */
export interface RedisLockOptions extends WaiterLimits {
  /**
   * Your client as a template: an ioredis `Redis` or `Cluster`, version 5 or 6, or one by `createClient` or `createCluster` of
   * node-redis, version 5.9 or 6. The lock client duplicates it for its commands and its messages. It is never used or closed itself, and locks
   * keep working after you close it.
   */
  readonly client?: UsersRedisClient | undefined;
  /**
   * A URL such as `'redis://localhost:6379'`, or ioredis' `RedisOptions`, including those for Sentinels; with node-redis the
   * options of `createClient` or `createSentinel`. Unless it sets ioredis' `socketTimeout`, a connection is dropped when a reply
   * is outstanding for a third of the `watchdogTimeout`, at least 5 s.
   */
  readonly connect?: string | object | undefined;
  /**
   * The package that connects: `ioredis`, or `redis` (node-redis). `connect` and the `options` of a `cluster` are then those of
   * that package.
   *
   * @default 'ioredis', or 'node-redis' where only that is installed
   */
  readonly driver?: RedisDriver | undefined;
  /** A Redis Cluster: some of its nodes, as URLs or `{ host, port }`, and ioredis' `ClusterOptions`, or the options of `createCluster`. */
  readonly cluster?:
    | {
        readonly nodes: readonly (string | { readonly host: string; readonly port: number })[];
        readonly options?: object | undefined;
      }
    | undefined;
  /**
   * Independent servers, a majority of which has to grant each lock (RedLock): an odd number from 3, each given as in
   * `connect` or `client`, in the same order everywhere. Such a client has mutexes only.
   */
  readonly nodes?: readonly (string | object | RedisNode | NodeRedisClient)[] | undefined;
  /**
   * With `nodes`: the longest wait for one server, from 1 ms to a third of the `watchdogTimeout`; keep it far below.
   *
   * @default a hundredth of the `watchdogTimeout`, from 50 to 500: 300
   */
  readonly nodeTimeout?: number | undefined;
  /**
   * Bound on the first connection, on a `tryAcquire` without a `wait` that finds no connection, on questions such as `holders()`, and
   * on requests that must not take effect twice, such as those of a latch.
   *
   * @default 15000
   */
  readonly connectTimeout?: number | undefined;
  /**
   * Lease of a lock that is renewed; the renewal runs every third of it. A crashed process blocks others for this long. Whole
   * milliseconds from 100 to 2^31 - 1. Redisson's `lockWatchdogTimeout`.
   *
   * @default 30000
   */
  readonly watchdogTimeout?: number | undefined;
  /**
   * Renews locks from a worker thread while the event loop of the main thread is blocked: then work that blocks it for longer
   * than the lease does not lose its locks. With `connect` and `cluster` only, and with options that can be copied to another
   * thread, that is, without functions. The thread has a connection of its own, on which it sends nothing while the main thread
   * lives; the client is connected when that is. If the thread ends, or cannot connect within `connectTimeout`, locks are as without
   * it, and there is a process warning. If it cannot be started, because a bundler has left its file out, the client is not created:
   * `LockOptionsError`.
   *
   * The price: a process that hangs, but is not dead, blocks others for up to `maxStall` and a `watchdogTimeout`, instead of one
   * `watchdogTimeout`. One that was killed or is stopped loses its locks as ever. A `maxHold` still ends the renewal; a lease with
   * a fixed length is not renewed; and one that `extend` has made shorter than 2 s may run out.
   *
   * @default none
   */
  readonly renewalWorker?: RenewalWorkerOptions | undefined;
  /**
   * How long a fair lock waits for a dead Redisson waiter at the head of its queue. Each waiter adds it to a deadline when it
   * queues, and subtracts it from the deadlines of the others when it is served: use the same value everywhere, also in
   * Redisson's option of that name. Whole milliseconds from 1 to 2^31 - 1.
   *
   * @default 300000
   */
  readonly fairLockWaitTimeout?: number | undefined;
  /**
   * Time after which the server forgets a semaphore with declared `permits` of which none is held: for semaphores of things
   * that come and go. The next acquire makes it anew, with the declared number. Permits of clients without it keep the semaphore while
   * they are held, and after the last of them it stays. Not for semaphores shared with Redisson, which does not make them anew. Whole
   * milliseconds from 100 to 2^31 - 1.
   *
   * @default none: they stay
   */
  readonly semaphoreTimeToLive?: number | undefined;
  /**
   * Prefix of every key on the server, as a Redisson `NameMapper` would add it.
   *
   * @default ''
   */
  readonly prefix?: string | undefined;
  /**
   * Bound on the wait of an acquire that sets none.
   *
   * @default 'forever'
   */
  readonly wait?: Wait | undefined;
  /**
   * Whether to wake waiters over sharded channels; for a cluster only. `'auto'`, as in Redisson: if the servers support them.
   * Every client that uses the locks has to do the same.
   *
   * @default 'auto'
   */
  readonly shardedSubscriptionMode?: 'auto' | 'on' | 'off' | undefined;
  /**
   * Number of replicas that must have a grant before it counts.
   *
   * @default none: a failover may forget locks
   */
  readonly replicas?: ReplicaPolicy | undefined;
}
