import type { EmbeddedLockOptions } from '../embedded/create-embedded-lock-client.js';
import type { RedisLockOptions } from '../redis/redis-options.js';
import type { ZooKeeperLockOptions } from '../zookeeper/zookeeper-options.js';

/** What every backend takes. */
interface CommonOptions {
  /**
   * Log every acquire and release, with its key, at the level `verbose`?
   *
   * @default false
   */
  readonly logOperations?: boolean;
  /**
   * Bound on the release of locks and the closing of the connection when the app shuts down, in milliseconds.
   *
   * @default 5000
   */
  readonly shutdownTimeout?: number;
}

/** Locks inside of this process, without a server: for development, tests, and apps of one process. */
export interface EmbeddedBackendOptions extends CommonOptions, EmbeddedLockOptions {
  readonly backend?: 'embedded';
}

/** Locks on ZooKeeper. Needs the npm package `zookeeper`. */
export interface ZooKeeperBackendOptions extends CommonOptions, ZooKeeperLockOptions {
  readonly backend: 'zookeeper';
}

/** Locks on Redis. Needs the npm package `ioredis`. */
export interface RedisBackendOptions extends CommonOptions, RedisLockOptions {
  readonly backend: 'redis';
}

/** A backend with its options. */
export type LockBackendOptions =
  EmbeddedBackendOptions | ZooKeeperBackendOptions | RedisBackendOptions;

/** Options of `LockModule.forRoot`. */
export type LockModuleOptions = LockBackendOptions & {
  /**
   * Name of the client, where an app has more than one.
   *
   * @default 'default'
   */
  readonly name?: string;
};
