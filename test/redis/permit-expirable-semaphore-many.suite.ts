import { expect, it } from '@jest/globals';
import { commandCalls } from './command-calls.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** The most that one acquire may take. */
const MOST = 10_000;
/** Longer than any test. */
const LONG_LEASE = 600_000;

/** Many permits of one holder: the server keeps each by itself, and does nothing else while it looks at them. */
export function permitExpirableSemaphoreManySuite(stage: () => RedisStage): void {
  it('acquires, keeps and releases the maximum with few commands', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(MOST + 5);
    await stage().command('CONFIG', 'RESETSTAT');
    const lease = await semaphore.acquire({ permits: MOST, lease: LONG_LEASE });
    expect(await semaphore.availablePermits()).toBe(5);
    await lease.extend(2 * LONG_LEASE);
    expect(await deadlines(LONG_LEASE)).toBe(MOST);
    await lease.release();
    const [sets, looks, removals] = await Promise.all(
      ['zadd', 'zm?score', 'zrem'].map((name) => commandCalls(stage(), name)),
    );
    expect(sets).toBeLessThanOrEqual(2 * 10);
    expect(looks).toBeLessThanOrEqual(10 + 5);
    expect(removals).toBeLessThanOrEqual(10 + 5);
    expect(await semaphore.availablePermits()).toBe(MOST + 5);
    expect(await deadlines(0)).toBe(0);
  });

  it('loses all permits when one of the last is missing', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2_500);
    const lease = await semaphore.acquire({ permits: 2_500, lease: LONG_LEASE });
    await theirs.semaphore(key).release(lease.permitIds.at(-1)!);
    await lease.extend(LONG_LEASE).catch(() => {}); // it may reject with the loss, or resolve
    expect(lease.isHeld).toBe(false);
    await lease.release();
    expect(await semaphore.availablePermits()).toBe(2_500);
  });

  it('rejects more than that at once', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 2 * MOST });
    for (const ask of [semaphore.acquire, semaphore.tryAcquire]) {
      const asked = ask.call(semaphore, { permits: MOST + 1 });
      await expect(asked).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permits', key });
    }
    expect(await stage().keys()).toEqual([]);
  });

  /** How many permits are held for longer than that many ms from now. */
  async function deadlines(ms: number): Promise<number> {
    const [seconds] = (await stage().command('TIME')) as [string];
    const from = Number(seconds) * 1_000 + ms;
    const { timeouts } = semaphoreNames(stage().key);
    return Number(await stage().command('ZCOUNT', timeouts, from, '+inf'));
  }
}
