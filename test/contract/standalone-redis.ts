import { RedisServer } from '../support/redis-server.js';
import type { RedisBackend } from './redis-backend.js';
import { remembering } from './remembering.js';

/** One server. */
export async function standaloneRedis(): Promise<RedisBackend> {
  const server = await RedisServer.start({ config: remembering });
  return {
    servers: [server],
    client: () => server.client(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}
