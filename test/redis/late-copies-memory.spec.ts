import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { CHANGES } from './late-copies-changes.js';
import { onLateCopies } from './late-copies-stage.js';

/** An answer has to be remembered for longer than any copy can be under way. */
const LONG_ENOUGH = 15 * 60_000;
/** Number of requests of which the answers may be kept for a client that has none under way. */
const FEW = 5;

const COUNTED = CHANGES.filter(({ name }) => !name.startsWith('forceUnlock'));

describe('What the server remembers of a change that counts once', () => {
  const stage = onLateCopies();

  describe.each([
    ['did not arrive before it was sent again', 'late'],
    ['was not answered before it was sent again', 'unanswered'],
  ] as const)('that %s', (_, way) => {
    it.each(COUNTED)('outlives every copy: $name', async ({ prepare, change }) => {
      const { mine, theirs, key, server } = stage();
      const warm = randomUUID(); // from here on the server knows the scripts
      await change(mine, warm, await prepare?.(mine, warm));
      const prepared = await prepare?.(theirs, key);
      await stage()[way](() => change(mine, key, prepared));
      await mine.close();

      const left = await Promise.all((await answers()).map((name) => server.command('PTTL', name)));
      expect(Math.max(...(left as number[]))).toBeGreaterThan(LONG_ENOUGH);
    });
  });

  it('does not grow with each change', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    const latch = mine.countDownLatch(`${key} latch`);
    const permits = mine.semaphore(`${key} permits`);
    await latch.trySetCount(100);
    await permits.trySetPermits(1);
    for (let n = 0; n < 20; n++)
      await Promise.all([semaphore.release(), latch.countDown(), permits.addPermits(1)]);
    await Promise.all(Array.from({ length: 20 }, () => semaphore.tryAcquire()));
    await semaphore.release(); // with it the server learns that the answers to all others have arrived
    await semaphore.tryAcquire();
    await eventually('few answers are left', async () => (await kept()) <= 3 * FEW);
    expect(await semaphore.availablePermits()).toBe(0);
  });

  it('does not grow with each change while others wait', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    const abort = new AbortController();
    const waits = [1, 2, 3].map(() => semaphore.acquire({ permits: 50, signal: abort.signal }));
    const ends = Promise.allSettled(waits);
    const { proxy, isScript } = stage();
    await eventually('all have asked', () => proxy.commands.filter(isScript).length >= 3);
    for (let n = 0; n < 20; n++) {
      await semaphore.release();
      await semaphore.tryAcquire();
    }
    expect(await kept()).toBeLessThanOrEqual(FEW);
    abort.abort();
    await ends;
  });

  it('expires by itself', async () => {
    const { mine, key, server } = stage();
    await mine.plainSemaphore(key).release();
    await stage().late(() => mine.plainSemaphore(key).release());
    await stage().late(() => mine.countDownLatch(`${key} latch`).trySetCount(1));
    for (const name of await answers())
      expect(await server.command('PTTL', name)).toBeGreaterThan(0);
  });

  const answers = async () =>
    (await stage().keys()).filter((name) => /^interlock_requests?:/.test(name));

  /** How many answers are kept, each in a key or in a field of one. */
  async function kept(): Promise<number> {
    const { server } = stage();
    const sizes = (await answers()).map(async (name) => {
      const isHash = (await server.command('TYPE', name)) === 'hash';
      return isHash ? Number(await server.command('HLEN', name)) : 1;
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }
});
