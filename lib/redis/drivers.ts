import { LockConnectionError } from '../core/errors/index.js';
import { isIoRedis, type RedisClient } from './connection/ioredis.js';
import {
  isNodeRedis,
  isNodeRedisCluster,
  type NodeRedis,
  type NodeRedisClient,
  type NodeRedisClusterClient,
} from './node-redis/node-redis.js';

/** A client that a user hands over. */
export type UsersRedisClient = RedisClient | NodeRedisClient | NodeRedisClusterClient;

/** Whether it is a client that a user may hand over. */
export function isClient(value: unknown): value is UsersRedisClient {
  return isIoRedis(value) || isNodeRedis(value) || isNodeRedisCluster(value);
}

/** Constructors of the package `ioredis`. */
export interface IoRedis {
  readonly Redis: new (...args: (string | object)[]) => RedisClient;
  readonly Cluster: new (nodes: readonly unknown[], options: object) => RedisClient;
}

/** Which of the packages it is. A bundler shows all that `Redis` of ioredis has as exports, and it has a `createClient`, too. */
export function isIoRedisPackage(loaded: IoRedis | NodeRedis): loaded is IoRedis {
  return 'Cluster' in loaded;
}

/** The packages that carry the commands, each an optional peer dependency. */
export type RedisDriver = 'ioredis' | 'node-redis';

const PACKAGE = { ioredis: 'ioredis', 'node-redis': 'redis' } as const;

/**
 * Loads the package of that driver; without a driver `ioredis`, or `redis` where only that is installed.
 *
 * Rejects with `LockConnectionError` when it is not installed.
 */
export async function loadDriver(
  client: string,
  driver?: RedisDriver,
): Promise<IoRedis | NodeRedis> {
  if (driver !== undefined) return await load(client, driver);
  try {
    return await load(client, 'ioredis');
  } catch (error) {
    return await load(client, 'node-redis').catch(() => Promise.reject(error as Error));
  }
}

/** Bundlers accept that a package is not installed where they find `await import` in a try statement. */
async function load(client: string, driver: RedisDriver): Promise<IoRedis | NodeRedis> {
  const name = PACKAGE[driver];
  try {
    const loaded: unknown = name === 'redis' ? await import('redis') : await import('ioredis');
    return loaded as IoRedis | NodeRedis;
  } catch (cause) {
    throw new LockConnectionError(
      `The backend "redis" needs the package \`${name}\`, which could not be loaded. Run \`npm install ${name}\`, or hand a client over as the option \`client\`.`,
      { client, cause },
    );
  }
}
