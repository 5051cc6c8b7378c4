import { LockConnectionError } from '../../core/errors/index.js';
import { within } from '../../core/internal/timers.js';
import type { RedisLock } from '../recipes/redis-lock.js';
import type { RedLockContext } from './red-lock-context.js';

/**
 * By what id a majority of the servers knows the holder of a lock; none, if there is no such holder. Those that are not
 * connected are not asked, and those that are silent not waited for once it is known.
 *
 * Rejects with `LockConnectionError` when too few answer within `nodeTimeout`.
 */
export async function leadersOf(
  context: RedLockContext,
  key: string,
  parts: readonly RedisLock[],
): Promise<string[]> {
  const { clock, nodeTimeout, majority, servers, client } = context;
  const answers: string[][] = [];
  let cause: unknown;
  const agreed = () =>
    answers.flat().find((id) => answers.filter((ids) => ids.includes(id)).length >= majority);
  const known = new Promise<void>((resolve) => {
    const ready = parts.filter(({ isReady }) => isReady);
    const answered = ready.map(async (part) => {
      try {
        answers.push(await part.holderIds());
        if (agreed() !== undefined) resolve();
      } catch (error) {
        cause = error;
      }
    });
    void Promise.all(answered).then(() => resolve());
  });
  await within(nodeTimeout, clock, known);
  const leader = agreed();
  if (leader !== undefined) return [leader];
  if (answers.length >= majority) return [];
  throw new LockConnectionError(
    `Fewer than ${majority} of the ${servers} servers of client "${client}" told in time who leads in ${JSON.stringify(key)}. Look after the servers, or raise \`nodeTimeout\`.`,
    { key, client, cause },
  );
}
