import type { Cluster, Redis } from 'ioredis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';

/** The lock clients of one test. */
export class RedisLockClients {
  private readonly opened: RedisLockClient[] = [];

  /** A client on that ioredis client, connected. */
  async on(
    client: Redis | Cluster,
    options: Omit<RedisLockOptions, 'client'> = {},
  ): Promise<RedisLockClient> {
    return this.with({ client, ...options });
  }

  /** A client with these options, connected. */
  async with(options: RedisLockOptions): Promise<RedisLockClient> {
    const locks = await createRedisLockClient('test', options);
    this.opened.push(locks);
    await locks.connect();
    return locks;
  }

  /** Closes those that there are. */
  async close(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((locks) => locks.close()));
  }
}
