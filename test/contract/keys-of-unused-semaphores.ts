import type { Cluster, Redis } from 'ioredis';

/** How many permits our clients want a semaphore to have. */
const WANTED = /^interlock_permits:\{(.*)\}$/;

/** Those of `keys` that stay of semaphores: how many permits are free, and how many there should be, where it is all of them. */
export async function keysOfUnusedSemaphores(
  redis: Redis | Cluster,
  keys: readonly string[],
): Promise<Set<string>> {
  const unused = new Set<string>();
  for (const key of keys) {
    const raw = WANTED.exec(key)?.[1];
    if (raw === undefined) continue;
    const [free, wanted] = await redis.mget(raw, key);
    if (free === wanted) unused.add(raw).add(key);
  }
  return unused;
}
