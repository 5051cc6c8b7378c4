import type { Cluster, Redis } from 'ioredis';
import type { RedisServer } from '../support/redis-server.js';

/** The Redis of one suite. It remembers everything over a restart. */
export interface RedisBackend {
  /** All that hold data. */
  readonly servers: readonly RedisServer[];
  /** Another client, as users have one. */
  client(): Redis | Cluster;
  /** Starts those that were killed; resolves when all is as before. */
  restart(): Promise<unknown>;
  /** Ends the servers for good. */
  stop(): Promise<void>;
}
