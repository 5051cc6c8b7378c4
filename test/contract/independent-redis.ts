import { RedisServer } from '../support/redis-server.js';
import { remembering } from './remembering.js';

/** So many servers that know nothing of each other. */
export async function independentRedis(count: number): Promise<RedisServer[]> {
  const config = remembering;
  return Promise.all(Array.from({ length: count }, () => RedisServer.start({ config })));
}
