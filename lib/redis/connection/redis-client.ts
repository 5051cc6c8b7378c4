import type { Corkable } from './packets.js';

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
