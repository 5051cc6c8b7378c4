import type { EmbeddedLockOptions } from '../embedded/create-embedded-lock-client.js';
import type { RedisLockOptions } from '../redis/redis-options.js';
import type { ZooKeeperLockOptions } from '../zookeeper/zookeeper-options.js';

/** Options of a client of every backend. */
interface NamespaceOption {
  /**
   * Keeps the locks of this client apart from those of other apps, tenants or environments on the same servers, on every backend:
   * the prefix `<namespace>:` on Redis, the directory `/locks/<namespace>` on the others. Up to 100 letters, digits, `.`, `_` and
   * `-`, the first of them a letter or a digit. Not together with `prefix` or `basePath`.
   *
   * @default none
   */
  readonly namespace?: string | undefined;
}

/** Options that locate servers. */
type ServerOption = 'connect' | 'client' | 'cluster' | 'nodes';

/** Locks inside this process, without a server: for development, tests, and apps of one process. */
export interface EmbeddedClientOptions
  extends NamespaceOption, EmbeddedLockOptions, Partial<Record<ServerOption, undefined>> {
  readonly backend?: 'embedded';
}

/** Locks on ZooKeeper, by this package alone, or with the npm package `zookeeper`. */
export interface ZooKeeperClientOptions extends NamespaceOption, ZooKeeperLockOptions {
  readonly backend: 'zookeeper';
}

/** Locks on Redis, of which exactly one option says where it is. Needs the npm package `ioredis` or `redis`. */
export type RedisClientOptions = NamespaceOption &
  Omit<RedisLockOptions, ServerOption> & { readonly backend: 'redis' } & RedisSource;

/** One of the options that locate Redis, and none of the others. */
type RedisSource = {
  [Option in ServerOption]: { readonly [Given in Option]: NonNullable<RedisLockOptions[Given]> } & {
    readonly [Other in Exclude<ServerOption, Option>]?: undefined;
  };
}[ServerOption];

/** A backend with its options. */
export type BackendOptions = EmbeddedClientOptions | ZooKeeperClientOptions | RedisClientOptions;
