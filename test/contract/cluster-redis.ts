import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisBackend } from './redis-backend.js';
import { remembering } from './remembering.js';

/** Three masters with a replica each, which do not take over while a test freezes their master. */
export async function clusterRedis(): Promise<RedisBackend> {
  const cluster = await RedisCluster.start({ nodeTimeout: 5_000, config: remembering });
  return {
    servers: cluster.servers,
    client: () => cluster.client(),
    restart: () => cluster.restart(),
    stop: () => cluster.stop(),
  };
}
