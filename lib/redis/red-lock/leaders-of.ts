import type { RedisLock } from '../recipes/redis-lock.js';

/** By what ids a majority of the servers knows the holder of a lock. Rejects when too few of them answer. */
export async function leadersOf(parts: readonly RedisLock[], majority: number): Promise<string[]> {
  const asked = await Promise.allSettled(parts.map((part) => part.holderIds()));
  const answers = asked.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
  const failed = asked.find((each) => each.status === 'rejected');
  if (answers.length < majority && failed) throw failed.reason;
  const ids = answers.flat();
  return [...new Set(ids)].filter((id) => ids.filter((each) => each === id).length >= majority);
}
