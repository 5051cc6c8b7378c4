import type { RedisServer } from '../../support/redis-server.js';

/** The keys on that server, but for the counters of fencing tokens, which stay. */
export async function locksLeft(server: RedisServer): Promise<string[]> {
  const keys = (await server.command('KEYS', '*')) as string[];
  return keys.filter((name) => !name.startsWith('redisson_lock_token:'));
}
