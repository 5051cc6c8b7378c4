import { expect, it } from '@jest/globals';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { RedisPermitExpirableSemaphore } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** Longer than any test. */
const LONG_LEASE = 600_000;

/** The lease of each permit: how it ends, how it is set, and what the watchdog does. */
export function permitExpirableSemaphoreLeasesSuite(stage: () => RedisStage): void {
  it('reports the remaining time of a permit (Redisson: RedissonPermitExpirableSemaphoreTest testGetLeaseTime)', async () => {
    const { theirs, key } = stage();
    const semaphore = await withPermits(2);
    const lease = await semaphore.acquire({ lease: 60_000 });
    const [id = ''] = lease.permitIds;
    const left = (await theirs.semaphore(key).getLeaseTime(id))!;
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await lease.release();
    expect(await theirs.semaphore(key).getLeaseTime(id)).toBeUndefined();
  });

  it('sets a new lease for a permit, as long as it is held (Redisson: RedissonPermitExpirableSemaphoreTest testUpdateLeaseTime)', async () => {
    const { theirs, key } = stage();
    const semaphore = await withPermits(1);
    expect(await semaphore.updateLeaseTime('ab'.repeat(16), 5_000)).toBe(false);
    const [id = ''] = await permitsOfTheDead(1, 300_000);
    expect(await semaphore.updateLeaseTime(id, LONG_LEASE)).toBe(true);
    expect(await semaphore.getLeaseTime(id)).toBeGreaterThan(LONG_LEASE - 60_000);
    expect(await semaphore.updateLeaseTime(id, 100)).toBe(true);
    await using next = await theirs.semaphore(key).acquire({ wait: 5_000 });
    expect(next.isHeld).toBe(true);
    expect(await semaphore.updateLeaseTime(id, 5_000)).toBe(false);
  });

  it('passes a permit to the next waiter when its lease is over (Redisson: RedissonPermitExpirableSemaphoreTest testExpire)', async () => {
    const { theirs, key } = stage();
    const semaphore = await withPermits(1);
    const lease = await semaphore.acquire({ lease: 500 });
    const startedAt = performance.now();
    await using next = await theirs.semaphore(key).acquire({ wait: 5_000 });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect([lease.isHeld, lease.signal.aborted, next.isHeld]).toEqual([false, true, true]);
    expect(await semaphore.tryRelease(lease.permitIds)).toBe(false);
    await lease.release();
    expect(await semaphore.acquiredPermits()).toBe(1);
  });

  it('grants a permit to a single attempt after its lease is over (Redisson: RedissonPermitExpirableSemaphoreTest testExpireTryAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await withPermits(1);
    const ids = await permitsOfTheDead(1, 300);
    const next = await eventually('it has come back', () => theirs.semaphore(key).tryAcquire());
    expect(next.permitIds).not.toEqual(ids);
    expect(await mine.semaphore(key).tryRelease(ids)).toBe(false);
    await next.release();
  });

  it('rejects the release of a permit with an expired lease, and takes it back all the same (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseExpired)', async () => {
    const semaphore = await withPermits(1);
    const ids = await permitsOfTheDead(1, 200);
    await over(semaphore, ids);
    await expect(semaphore.release(ids)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await semaphore.availablePermits()).toBe(1);
  });

  it('takes back all permits with expired leases, in whatever way they are released (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseManyExpiredDoesNotThrow)', async () => {
    const semaphore = await withPermits(10);
    const ids = await permitsOfTheDead(10, 200);
    await over(semaphore, ids);
    for (const id of ids) expect(await semaphore.tryRelease(id)).toBe(false);
    expect(await semaphore.availablePermits()).toBe(10);
    await using all = (await semaphore.tryAcquire({ permits: 10 }))!;
    expect(all.isHeld).toBe(true);
  });

  it('does not release a list of permits that are all expired (Redisson: RedissonPermitExpirableSemaphoreTest testTryReleaseManyExpired)', async () => {
    const semaphore = await withPermits(10);
    const ids = await permitsOfTheDead(10, 200);
    await over(semaphore, ids);
    expect(await semaphore.tryRelease(ids)).toBe(false);
    expect(await semaphore.availablePermits()).toBe(10);
  });

  it('does not release a list with one permit that is expired or never existed, and changes nothing (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseManyNotExistOrExpired)', async () => {
    const semaphore = await withPermits(10);
    const dead = await permitsOfTheDead(1, 200);
    await over(semaphore, dead);
    await using lease = await semaphore.acquire({ permits: 9 });
    for (const bad of [dead[0]!, 'ab'.repeat(16)]) {
      const ids = [...lease.permitIds, bad];
      expect(await semaphore.tryRelease(ids)).toBe(false);
      await expect(semaphore.release(ids)).rejects.toBeInstanceOf(LockNotHeldError);
    }
    expect(await semaphore.acquiredPermits()).toBe(9);
    expect(lease.isHeld).toBe(true);
  });

  it('is gone with its permits when its key expires (Redisson: RedissonPermitExpirableSemaphoreTest testExpiration)', async () => {
    const { mine, key } = stage();
    const { timeouts } = semaphoreNames(key);
    await withPermits(3);
    await stage().command('PEXPIRE', key, 10_000);
    await permitsOfTheDead(1, LONG_LEASE);
    expect(await stage().command('PTTL', timeouts)).toBeGreaterThan(0);
    for (const name of [key, timeouts]) await stage().command('PEXPIRE', name, 200, 'LT');
    await eventually('both are gone', async () => (await stage().keys()).length === 0);
    expect(await mine.semaphore(key).getPermits()).toBe(0);
  });

  it('is renewed for as long as it is held, with all permits of a lease', async () => {
    await withPermits(3);
    const client = await stage().client({ watchdogTimeout: 3_000 });
    await using lease = await client.semaphore(stage().key).acquire({ permits: 3 });
    const deadlines = await deadlinesOf();
    await eventually('all have a later deadline', async () => {
      const later = await deadlinesOf();
      return later.length === 3 && later.every((deadline) => deadline > deadlines[0]!);
    });
    expect(lease.isHeld).toBe(true);
  });

  it('is extended, with all permits of a lease', async () => {
    const semaphore = await withPermits(2);
    await using lease = await semaphore.acquire({ permits: 2, lease: 60_000 });
    await lease.extend(LONG_LEASE);
    for (const id of lease.permitIds)
      expect(await semaphore.getLeaseTime(id)).toBeGreaterThan(LONG_LEASE - 60_000);
    expect(lease.remaining()).toBeGreaterThan(LONG_LEASE - 60_000);
  });

  it('is lost as a whole when the server forgets one of its permits', async () => {
    const client = await stage().client({ watchdogTimeout: 600 });
    const semaphore = client.semaphore(stage().key, { permits: 3 });
    const lease = await semaphore.acquire({ permits: 3 });
    await stage().mine.semaphore(stage().key).release(lease.permitIds[1]!);
    await eventually('it is lost', () => lease.signal.aborted);
    await lease.release();
    await eventually('all are back', async () => (await semaphore.availablePermits()) === 3);
    expect(await semaphore.getPermits()).toBe(3);
  });

  it('is free again one lease after its client was cut off', async () => {
    const { key } = stage();
    const semaphore = await withPermits(2);
    const connection = stage().connection();
    const dying = await stage().client({ client: connection, watchdogTimeout: 500 });
    const lease = await dying.semaphore(key).acquire({ permits: 2 });
    connection.disconnect();
    await using next = await semaphore.acquire({ permits: 2, wait: 5_000 });
    expect([next.isHeld, lease.isHeld]).toEqual([true, false]);
  });

  it('has a fencing token above that of the previous holder of the permit', async () => {
    const semaphore = await withPermits(2);
    const first = await semaphore.acquire();
    const token = await first.fencingToken();
    expect(await first.fencingToken()).toBe(token);
    await using second = await semaphore.acquire();
    expect(await second.fencingToken()).toBeGreaterThan(token);
    await first.release();
    await using third = await semaphore.acquire();
    expect(await third.fencingToken()).toBeGreaterThan(await second.fencingToken());
  });

  async function withPermits(permits: number): Promise<RedisPermitExpirableSemaphore> {
    const semaphore = stage().mine.semaphore(stage().key);
    await semaphore.trySetPermits(permits);
    return semaphore;
  }

  /** Permits that are not released. */
  async function permitsOfTheDead(permits: number, lease: number): Promise<readonly string[]> {
    const connection = stage().connection();
    const dying = await stage().client({ client: connection });
    const { permitIds } = await dying.semaphore(stage().key).acquire({ permits, lease });
    connection.disconnect();
    return permitIds;
  }

  async function over(
    semaphore: RedisPermitExpirableSemaphore,
    ids: readonly string[],
  ): Promise<void> {
    for (const id of ids)
      await eventually(
        'its lease is over',
        async () => (await semaphore.getLeaseTime(id)) === undefined,
      );
  }

  async function deadlinesOf(): Promise<number[]> {
    const { timeouts } = semaphoreNames(stage().key);
    const reply = (await stage().command('ZRANGE', timeouts, 0, -1, 'WITHSCORES')) as string[];
    return reply.filter((_, i) => i % 2 === 1).map(Number);
  }
}
