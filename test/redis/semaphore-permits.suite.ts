import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** How many permits there are, and what changes that. */
export function semaphorePermitsSuite(stage: () => RedisStage): void {
  it('is set once, and may expire (Redisson: RedissonSemaphoreTest testTrySetPermits)', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    expect(await semaphore.trySetPermits(10)).toBe(true);
    expect(await theirs.plainSemaphore(key).trySetPermits(20)).toBe(false);
    expect(await semaphore.availablePermits()).toBe(10);
    await stage().command('DEL', key);

    expect(await semaphore.trySetPermits(3, 600_000)).toBe(true);
    expect(await stage().command('PTTL', key)).toBeGreaterThan(500_000);
    await stage().command('DEL', key);

    expect(await semaphore.trySetPermits(3, 200)).toBe(true);
    await eventually('it has ended', async () => (await semaphore.availablePermits()) === 0);
    expect(await semaphore.trySetPermits(4)).toBe(true);
    expect(await stage().command('PTTL', key)).toBe(-1);
  });

  it('gets more permits (Redisson: RedissonSemaphoreTest testAddPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.addPermits(5);
    expect(await semaphore.availablePermits()).toBe(5);
    await semaphore.addPermits(5);
    expect(await semaphore.availablePermits()).toBe(10);
  });

  it('gets fewer permits, even fewer than none (Redisson: RedissonSemaphoreTest testReducePermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(10);
    await semaphore.acquire({ permits: 10 });
    await semaphore.addPermits(-5);
    expect(await semaphore.availablePermits()).toBe(-5);
    await semaphore.release(10);
    expect(await semaphore.availablePermits()).toBe(5);
    expect(await semaphore.tryAcquire({ permits: 5 })).toBe(true);
  });

  it('is created by a release (Redisson: RedissonSemaphoreTest testAcquireWithoutSetPermits)', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.plainSemaphore(key).tryAcquire()).toBe(false);
    await mine.plainSemaphore(key).release();
    await mine.plainSemaphore(key).release();
    await theirs.plainSemaphore(key).acquire({ permits: 2 });
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('has one more permit after a release without an acquire (Redisson: RedissonSemaphoreTest testReleaseWithoutPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.release();
    expect(await semaphore.availablePermits()).toBe(1);
  });

  it('is not created by a release that requires it to exist (Redisson: RedissonSemaphoreTest testReleaseIfExists)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    expect(await semaphore.releaseIfExists()).toBe(false);
    expect(await semaphore.releaseIfExists(3)).toBe(false);
    expect(await stage().command('EXISTS', stage().key)).toBe(0);
    await semaphore.trySetPermits(1);
    expect(await semaphore.releaseIfExists()).toBe(true);
    expect(await semaphore.releaseIfExists(3)).toBe(true);
    expect(await semaphore.availablePermits()).toBe(5);
  });

  it('is drained (Redisson: RedissonSemaphoreTest testDrainPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    expect(await semaphore.drainPermits()).toBe(0);
    await semaphore.addPermits(10);
    await semaphore.acquire({ permits: 3 });
    expect(await semaphore.drainPermits()).toBe(7);
    expect(await semaphore.availablePermits()).toBe(0);
    expect(await semaphore.tryAcquire()).toBe(false);
    await semaphore.addPermits(-2);
    expect(await semaphore.drainPermits()).toBe(-2);
    expect(await semaphore.availablePermits()).toBe(0);
  });

  it('is acquired and released by different clients (Redisson: RedissonSemaphoreTest testReleaseAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(10);
    await mine.plainSemaphore(key).acquire();
    await mine.plainSemaphore(key).acquire({ permits: 5 });
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(4);
    await theirs.plainSemaphore(key).release(5);
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(9);
    await theirs.plainSemaphore(key).release();
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(10);
  });

  it('releases its permits when the work is done, and when it fails', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(3);
    const left = await semaphore.using(() => semaphore.availablePermits(), { permits: 2 });
    expect(left).toBe(1);
    const failure = semaphore.using(() => Promise.reject(new Error('out of seats')));
    await expect(failure).rejects.toThrow('out of seats');
    expect(await semaphore.availablePermits()).toBe(3);
  });

  it('keeps its expiry through everything but a drain', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(5, 600_000);
    await semaphore.acquire({ permits: 2 });
    await semaphore.release();
    await semaphore.releaseIfExists();
    expect(await stage().command('PTTL', stage().key)).toBeGreaterThan(500_000);
    await semaphore.drainPermits();
    expect(await stage().command('PTTL', stage().key)).toBe(-1);
  });
}
