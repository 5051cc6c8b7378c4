import { LockConnectionError } from '../../core/errors/index.js';
import type { RedisClient } from './redis-client.js';

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
