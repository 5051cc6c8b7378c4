import { FOR_LATE_COPIES } from '../../support/kept-keys.js';
import type { RedisServer } from '../../support/redis-server.js';

/**
 * The keys on that server, but for the counters of fencing tokens, which stay, and for what late copies are known by, which
 * ends by itself.
 */
export async function locksLeft(server: RedisServer): Promise<string[]> {
  const keys = (await server.command('KEYS', '*')) as string[];
  const others = keys.filter((name) => !name.startsWith('redisson_lock_token:'));
  const isLeft = others.map(
    async (name) => !FOR_LATE_COPIES.test(name) || (await server.command('PTTL', name)) === -1,
  );
  const left = await Promise.all(isLeft);
  return others.filter((_, i) => left[i]);
}
