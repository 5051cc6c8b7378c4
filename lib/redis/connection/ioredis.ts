import type { Corkable } from './command-corking.js';

/** Argument of a command. */
export type RedisArgument = string | number | Buffer;

/** The part of an ioredis `Redis` that is used here, the same in all of its major versions. */
export interface RedisNode {
  readonly status: string;
  readonly options: object;
  /** The socket, once there is one; a Cluster has none of its own. */
  readonly stream?: Corkable | undefined;
  call(command: string, ...args: (RedisArgument | readonly RedisArgument[])[]): Promise<unknown>;
  connect(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  duplicate(override?: object): RedisNode;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** The part of an ioredis `Cluster` that is used here. */
export interface RedisCluster extends Omit<RedisNode, 'duplicate'> {
  readonly isCluster: boolean;
  /** The nodes of each slot as `host:port`, the master first. */
  readonly slots: readonly (readonly string[])[];
  nodes(role: 'all' | 'master'): RedisNode[];
}

/** A connected or connecting client of the package `ioredis`: standalone, behind Sentinels, or of a cluster. */
export type RedisClient = RedisNode | RedisCluster;

/** Whether it is a client of a Redis Cluster. */
export function isRedisCluster(client: RedisClient): client is RedisCluster {
  return 'isCluster' in client && client.isCluster;
}

/** Credentials of a connection. */
interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** The clients of users of which others are copies. */
const sources = new WeakMap<RedisNode, RedisNode>();

/**
 * Makes each new connection of `client` use the credentials that `other` has by then, or the client of the user that it is a copy of:
 * tokens of cloud providers expire.
 */
export function followCredentials(client: RedisNode, other: RedisNode): void {
  const source = sources.get(other) ?? other;
  const copy = () => {
    const { username, password } = source.options as Credentials;
    Object.assign(client.options, { username, password });
  };
  sources.set(client, source);
  copy();
  client.on('close', copy);
}

/** Returns the delay before the next attempt to connect, in ms; without a number, there is no further attempt. */
type RetryStrategy = (attempt: number, ...reason: unknown[]) => unknown;

/** A `Cluster` as a user hands it over. */
interface IoRedisCluster extends RedisCluster {
  /** Creates a new client, of the same nodes if none are given. */
  duplicate(nodes: never[], override: object): RedisCluster;
}

/** The options of a client that are read here. */
interface TemplateOptions {
  readonly db?: number;
  readonly retryStrategy?: RetryStrategy | null;
  readonly clusterRetryStrategy?: RetryStrategy | null;
  readonly redisOptions?: object;
}

/**
 * Creates a private client for the same servers as the user's client, which is left alone.
 *
 * @param defaults options of its connections that the user's client may override
 * @param ours options that override the user's
 */
export function duplicateOf(client: RedisClient, defaults: object, ours: object): RedisClient {
  const options = client.options as TemplateOptions;
  if (isRedisCluster(client)) {
    const redisOptions = { ...defaults, ...given(options.redisOptions ?? {}) };
    const clusterRetryStrategy = untiring(options.clusterRetryStrategy);
    return (client as IoRedisCluster).duplicate([], {
      ...ours,
      redisOptions,
      clusterRetryStrategy,
    });
  }
  const own = client.duplicate({
    ...defaults,
    ...given(options),
    ...ours,
    db: databaseOf(client),
    retryStrategy: untiring(options.retryStrategy),
  });
  followCredentials(own, client);
  return own;
}

/** The database that the user selected last: it is not among the options, and kept elsewhere while ioredis reconnects. */
function databaseOf(client: RedisNode): number | undefined {
  for (const name of ['prevCondition', 'condition']) {
    const condition = Reflect.get(client, name) as { readonly select?: number } | null | undefined;
    if (condition?.select !== undefined) return condition.select;
  }
  return (client.options as TemplateOptions).db;
}

/** Keeps retrying where the user's client would give up: nothing else could reconnect the private client. */
function untiring(strategy: RetryStrategy | null | undefined): RetryStrategy {
  return (attempt, ...reason) => {
    const delay = strategy?.(attempt, ...reason);
    return typeof delay === 'number' ? delay : Math.min(attempt * 50, 2_000);
  };
}

/** The options that have a value: ioredis may list options that were never set. */
function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Whether it is an ioredis `Redis` or `Cluster`. */
export function isIoRedis(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false;
  return ['call', 'duplicate', 'on'].every((it) => typeof Reflect.get(value, it) === 'function');
}
