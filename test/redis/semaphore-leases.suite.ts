import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { LockKeyError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { RedisPermitExpirableSemaphore } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis, semaphoreNames } from './support/redis-stage.js';

/** Expiry time of a permit that does not expire. */
const NEVER = 922_337_203_685_477;

/** What Redisson, or the end of its processes, leaves on the server. */
export function permitExpirableSemaphoreRedissonSuite({ it, test, stage }: OnRedis): void {
  test('takes back expired permits with the next acquire, and publishes it', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(1, 1_000, Date.now() - 5_000);
    const log = await stage().log();
    await using lease = (await mine.semaphore(key).tryAcquire({ permits: 2 }))!;
    expect(lease.isHeld).toBe(true);
    expect(await stage().command('GET', key)).toBe('1');
    const { publish } = stage();
    expect(await log.published(key)).toEqual([`${publish} ${semaphoreNames(key).channel} 3`]);
  });

  it('waits for a permit of Redisson until it expires', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(Date.now() + 500, NEVER);
    await using lease = await mine.semaphore(key).acquire({ wait: 10_000 });
    expect(lease.isHeld).toBe(true);
    expect(await mine.semaphore(key).acquiredPermits()).toBe(2);
    await stage().command('DEL', semaphoreNames(key).timeouts);
  });

  test('waits for a permit that does not expire until the message', async () => {
    const { mine, key } = stage();
    const { channel, timeouts } = semaphoreNames(key);
    await stage().command('SET', key, 0);
    const [id = ''] = await held(NEVER);
    expect(await mine.semaphore(key).getLeaseTime(id)).toBe(-1);
    expect(await mine.semaphore(key).acquiredPermits()).toBe(1);
    const { lease: waiting } = await stage().queue(mine, mine.semaphore(key));
    await stage().listening(channel);
    await stage().command('DEL', timeouts); // the release of Redisson
    await stage().command('INCR', key);
    await stage().command(stage().publish, channel, '1');
    await isGranted(waiting);
  });

  it('releases a permit of Redisson by the id that Redisson shows', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    const [endless = '', ending = ''] = await held(NEVER, Date.now() + LONG_LEASE);
    const semaphore = mine.semaphore(key);
    expect(await semaphore.updateLeaseTime(endless, LONG_LEASE)).toBe(true);
    expect(await semaphore.getLeaseTime(endless)).toBeLessThanOrEqual(LONG_LEASE);
    await semaphore.release([endless, ending]);
    expect(await semaphore.availablePermits()).toBe(2);
  });

  it('grants nothing while its number is negative', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, -2);
    const semaphore = mine.semaphore(key);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await semaphore.availablePermits()).toBe(-2);
    await semaphore.addPermits(3);
    await isGranted(semaphore.tryAcquire());
  });

  it('stays negative where expired permits do not make up for it', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, -3);
    await held(1_000, 2_000);
    expect(await mine.semaphore(key).availablePermits()).toBe(-1);
    expect(await mine.semaphore(key).tryAcquire()).toBeUndefined();
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('-1');
  });

  it('lets the permits expire with a number that expires', async () => {
    const { mine, key } = stage();
    const { timeouts } = semaphoreNames(key);
    await stage().command('SET', key, 2, 'PX', LONG_LEASE);
    await using _ = await mine.semaphore(key).acquire();
    expect(await stage().command('PTTL', key)).toBeGreaterThan(LONG_LEASE - 60_000);
    expect(await stage().command('PTTL', timeouts)).toBeGreaterThan(LONG_LEASE - 60_000);
  });

  it('loses its leases when the number and the permits are deleted', async () => {
    const { key } = stage();
    const client = await stage().client({ watchdogTimeout: 600 });
    const semaphore = client.semaphore(key, { permits: 2 });
    const lease = await semaphore.acquire();
    await stage().command('DEL', key, semaphoreNames(key).timeouts);
    await eventually('it is lost', () => lease.signal.aborted);
    await lease.release();
    await isGranted(semaphore.tryAcquire({ permits: 2 }));
  });

  it('takes back thousands of expired permits at once', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(...Array.from({ length: 10_000 }, (_, n) => n + 1));
    await using lease = (await mine.semaphore(key).tryAcquire())!;
    expect(lease.isHeld).toBe(true);
    expect(await mine.semaphore(key).availablePermits()).toBe(9_999);
  });

  it.each<[string, ...(string | number)[]]>([
    ['HSET', 'field', 'theirs'],
    ['RPUSH', 'theirs'],
    ['SADD', 'theirs'],
    ['ZADD', 1, 'theirs'],
    ['SET', 'theirs'],
  ])('rejects a foreign key, and leaves it alone (%s)', async (command, ...operands) => {
    const { mine, key } = stage();
    await stage().command(command, key, ...operands);
    const before = await stage().command('DUMP', key);
    for (const options of [{}, { fair: true }, { permits: 3 }]) {
      const semaphore = mine.semaphore(key, options);
      for (const ask of [
        () => semaphore.acquire(),
        () => semaphore.tryAcquire(),
        () => semaphore.getPermits(),
        () => semaphore.setPermits(3),
        () => semaphore.addPermits(3),
      ])
        await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    }
    await mine.close(); // its background work is done then
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('DUMP', key)).toEqual(before);
  });

  it('rejects permits that are something else', async () => {
    const { mine, key } = stage();
    const { timeouts } = semaphoreNames(key);
    await stage().command('SET', timeouts, 'theirs');
    const semaphore = mine.semaphore(key);
    for (const ask of [
      () => semaphore.acquire(),
      () => semaphore.tryRelease('ab'.repeat(16)),
      () => semaphore.getLeaseTime('ab'.repeat(16)),
    ])
      await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    await mine.close();
    expect(await stage().keys()).toEqual([timeouts]);
    await stage().command('DEL', timeouts);
  });

  /** Permits of Redisson, with the expiry time of each. */
  async function held(...deadlines: number[]): Promise<string[]> {
    const ids = deadlines.map(() => randomBytes(16));
    const members = deadlines.flatMap((deadline, i) => [deadline, ids[i]!]);
    await stage()
      .connection()
      .zadd(semaphoreNames(stage().key).timeouts, ...members);
    return ids.map((id) => id.toString('hex'));
  }
}

/** Longer than any test. */
const LONG_LEASE = 600_000;

/** The lease of each permit: how it ends, how it is set, and what the watchdog does. */
export function permitExpirableSemaphoreLeasesSuite({ it, test, stage }: OnRedis): void {
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

  test('sets a new lease for a permit, as long as it is held (Redisson: RedissonPermitExpirableSemaphoreTest testUpdateLeaseTime)', async () => {
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

  it('sets no lease by the id of a permit that the same client holds, as its holder would not learn of it', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = await withPermits(2);
    await using lease = await semaphore.acquire({ permits: 2, lease: LONG_LEASE });
    const id = lease.permitIds[1]!.toUpperCase();
    await expect(mine.semaphore(key).updateLeaseTime(id, 100)).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option: 'permitId',
      expected: expect.stringContaining('`extend` of its lease'),
      key,
    });
    expect(await semaphore.getLeaseTime(id)).toBeGreaterThan(LONG_LEASE - 60_000);
    expect(await theirs.semaphore(key).updateLeaseTime(id, LONG_LEASE)).toBe(true);
    await lease.release();
    expect(await semaphore.updateLeaseTime(id, LONG_LEASE)).toBe(false);
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
    await isGranted(semaphore.tryAcquire({ permits: 10 }));
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

  test('is renewed for as long as it is held, with all permits of a lease', async () => {
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
