import { LockConnectionError } from '../../core/errors/index.js';
import type { Corkable } from './command-corking.js';

/** What a command takes. */
export type RedisArgument = string | number | Buffer;

/** What we need of an ioredis `Redis`, whatever its major version. */
export interface RedisNode {
  readonly status: string;
  readonly options: object;
  /** Its socket, once it has one; a Cluster has none of its own. */
  readonly stream?: Corkable;
  call(command: string, ...args: RedisArgument[]): Promise<unknown>;
  connect(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  duplicate(override?: object): RedisNode;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** What we need of an ioredis `Cluster`. */
export interface RedisCluster extends Omit<RedisNode, 'duplicate'> {
  readonly isCluster: boolean;
  /** The nodes of each slot as `host:port`, the master first. */
  readonly slots: readonly (readonly string[])[];
  nodes(role: 'all' | 'master'): RedisNode[];
  /** A new client; of the same nodes where none are named. */
  duplicate(nodes: never[], override: object): RedisCluster;
}

/** A connected or connecting client of the package `ioredis`: standalone, behind Sentinels, or of a cluster. */
export type RedisClient = RedisNode | RedisCluster;

/** Is it a client of a Redis Cluster? */
export function isRedisCluster(client: RedisClient): client is RedisCluster {
  return 'isCluster' in client && client.isCluster;
}

/** What we make clients with. */
interface IoRedis {
  readonly Redis: new (...args: (string | object)[]) => RedisClient;
  readonly Cluster: new (nodes: readonly unknown[], options: object) => RedisClient;
}

/**
 * Loads the package `ioredis`, an optional peer dependency.
 *
 * Rejects with `LockConnectionError` when it is not installed.
 */
export async function loadIoRedis(client: string): Promise<IoRedis> {
  try {
    return (await import('ioredis')) as unknown as IoRedis;
  } catch (cause) {
    throw new LockConnectionError(
      'The backend "redis" needs the package `ioredis`, which could not be loaded. Run `npm install ioredis`, or hand a client over as the option `client`.',
      { client, cause },
    );
  }
}

/** What a connection logs in with. */
interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** Has each further connection of `client` log in as one of `other` would by then: tokens of cloud providers expire. */
export function followCredentials(client: RedisNode, other: RedisNode): void {
  client.on('close', () => {
    const { username, password } = other.options as Credentials;
    Object.assign(client.options, { username, password });
  });
}

/** Delay before the next attempt to connect, in ms; else there is none. */
type RetryStrategy = (attempt: number, ...reason: unknown[]) => unknown;

/** What we look at of the options of a client. */
interface TemplateOptions {
  readonly db?: number;
  readonly retryStrategy?: RetryStrategy | null;
  readonly clusterRetryStrategy?: RetryStrategy | null;
  readonly redisOptions?: object;
}

/**
 * A client of our own that reaches the same servers as the user's, and leaves that alone.
 *
 * @param defaults options of its connections that the user's client may have set otherwise
 * @param ours options that are ours to set
 */
export function duplicateOf(client: RedisClient, defaults: object, ours: object): RedisClient {
  const options = client.options as TemplateOptions;
  if (isRedisCluster(client)) {
    const redisOptions = { ...defaults, ...given(options.redisOptions ?? {}) };
    const clusterRetryStrategy = untiring(options.clusterRetryStrategy);
    return client.duplicate([], { ...ours, redisOptions, clusterRetryStrategy });
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

/** The one that the user has selected last: it is not among the options, and kept elsewhere while ioredis reconnects. */
function databaseOf(client: RedisNode): number | undefined {
  for (const name of ['prevCondition', 'condition']) {
    const condition = Reflect.get(client, name) as { readonly select?: number } | null | undefined;
    if (condition?.select !== undefined) return condition.select;
  }
  return (client.options as TemplateOptions).db;
}

/** Where the user's client would give up, ours goes on: nobody else could connect it again. */
function untiring(strategy: RetryStrategy | null | undefined): RetryStrategy {
  return (attempt, ...reason) => {
    const delay = strategy?.(attempt, ...reason);
    return typeof delay === 'number' ? delay : Math.min(attempt * 50, 2_000);
  };
}

/** ioredis may name options that nobody has set. */
function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Is it an ioredis `Redis` or `Cluster`? */
export function isClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false;
  return ['call', 'duplicate', 'on'].every((it) => typeof Reflect.get(value, it) === 'function');
}
