import { expect } from '@jest/globals';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { RedisPermitExpirableSemaphore } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../support/time.js';
import { isGranted, commandCalls, type OnRedis, semaphoreNames } from './support/redis-stage.js';

/** The most that one acquire may take. */
const MOST = 10_000;

/** Many permits of one holder: the server keeps each by itself, and does nothing else while it looks at them. */
export function permitExpirableSemaphoreManySuite({ it, test, stage }: OnRedis): void {
  test('acquires, keeps and releases the maximum with few commands', async () => {
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

/** Longer than any test. */
const LONG_LEASE = 600_000;
const ID = /^[0-9a-f]{32}$/;

/** How many permits there are, which of them are held, and what releases them. */
export function permitExpirableSemaphorePermitsSuite({ it, test, stage }: OnRedis): void {
  it('has no permits before any are set (Redisson: RedissonPermitExpirableSemaphoreTest testNotExistent)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    expect(await counts(semaphore)).toEqual([0, 0, 0]);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await stage().keys()).toEqual([]);
  });

  it('is set once (Redisson: RedissonPermitExpirableSemaphoreTest testTrySetPermits)', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.semaphore(key).trySetPermits(10)).toBe(true);
    expect(await theirs.semaphore(key).trySetPermits(20)).toBe(false);
    expect(await counts(mine.semaphore(key))).toEqual([10, 0, 10]);
  });

  it('is made larger and smaller, even smaller than the number of held permits (Redisson: RedissonPermitExpirableSemaphoreTest testSetPermits)', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.setPermits(3);
    const lease = await semaphore.acquire({ permits: 3 });
    await theirs.semaphore(key).setPermits(5);
    expect(await counts(semaphore)).toEqual([2, 3, 5]);
    await theirs.semaphore(key).setPermits(1);
    expect(await counts(semaphore)).toEqual([-2, 3, 1]);
    expect(lease.isHeld).toBe(true);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    await lease.release();
    expect(await counts(semaphore)).toEqual([1, 0, 1]);
  });

  it('gets more, and fewer (Redisson: RedissonPermitExpirableSemaphoreTest testAddPermits)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    await semaphore.trySetPermits(2);
    await semaphore.addPermits(3);
    expect(await semaphore.availablePermits()).toBe(5);
    await semaphore.addPermits(-4);
    expect(await semaphore.availablePermits()).toBe(1);
    await semaphore.addPermits(-2);
    expect(await semaphore.availablePermits()).toBe(-1);
  });

  test('counts the free, the held and all permits, and expired ones that were not collected (Redisson: RedissonPermitExpirableSemaphoreTest testAvailablePermits) (Redisson: RedissonPermitExpirableSemaphoreTest testAcquiredPermits) (Redisson: RedissonPermitExpirableSemaphoreTest testGetPermits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(5);
    await using _ = await mine.semaphore(key).acquire();
    const other = await theirs.semaphore(key).acquire({ permits: 2 });
    expect(other.permitIds).toHaveLength(2);
    for (const client of [mine, theirs])
      expect(await counts(client.semaphore(key))).toEqual([2, 3, 5]);
    await stage().connection().zadd(semaphoreNames(key).timeouts, 1, Buffer.alloc(16));
    await stage().command('DECR', key);
    expect(await counts(mine.semaphore(key))).toEqual([2, 3, 5]);
    await other.release();
    expect(await counts(theirs.semaphore(key))).toEqual([4, 1, 5]);
  });

  it('has an id of 32 digits for each permit (Redisson: RedissonPermitExpirableSemaphoreTest testBlockingAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await using first = await mine.semaphore(key).acquire();
    await using second = await theirs.semaphore(key).acquire();
    const ids = [...first.permitIds, ...second.permitIds];
    expect(ids).toEqual([expect.stringMatching(ID), expect.stringMatching(ID)]);
    expect(new Set(ids).size).toBe(2);
  });

  it('grants several permits at once, or none (Redisson: RedissonPermitExpirableSemaphoreTest testTryAcquireMany)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(5);
    await using four = (await mine.semaphore(key).tryAcquire({ permits: 4 }))!;
    expect(new Set(four.permitIds).size).toBe(4);
    expect(await theirs.semaphore(key).tryAcquire({ permits: 2 })).toBeUndefined();
    expect(await counts(theirs.semaphore(key))).toEqual([1, 4, 5]);
  });

  it('grants a free permit at once (Redisson: RedissonPermitExpirableSemaphoreTest testAcquire)', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(10);
    await stage().command('CONFIG', 'RESETSTAT');
    const leases = await Promise.all(
      Array.from({ length: 10 }, () => mine.semaphore(key).acquire({ wait: 5_000 })),
    );
    expect(new Set(leases.flatMap(({ permitIds }) => permitIds)).size).toBe(10);
    expect(await mine.semaphore(key).availablePermits()).toBe(0);
    for (const lease of leases) await lease.release();
  });

  it('rejects the release of a permit that was not acquired (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseWithoutPermits)', async () => {
    const semaphore = stage().mine.semaphore(stage().key);
    const id = '00'.repeat(16);
    await expect(semaphore.release(id)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await semaphore.tryRelease(id)).toBe(false);
    expect(await stage().keys()).toEqual([]);
  });

  test('releases some of the permits of a lease by their ids, each once (Redisson: RedissonPermitExpirableSemaphoreTest testRelease)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const { permitIds } = await mine.semaphore(key).acquire({ permits: 3, lease: LONG_LEASE });
    const [first, ...others] = permitIds;
    await theirs.semaphore(key).release(first!);
    expect(await counts(mine.semaphore(key))).toEqual([1, 2, 3]);
    await expect(theirs.semaphore(key).release(first!)).rejects.toBeInstanceOf(LockNotHeldError);
    await theirs.semaphore(key).release(others);
    await expect(theirs.semaphore(key).release(others)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await counts(mine.semaphore(key))).toEqual([3, 0, 3]);
  });

  it('releases the permits of many leases at once (Redisson: RedissonPermitExpirableSemaphoreTest testReleaseAsyncMany)', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(10);
    const leases = await Promise.all(Array.from({ length: 10 }, () => semaphore.acquire()));
    expect(await semaphore.tryRelease(leases.flatMap(({ permitIds }) => permitIds))).toBe(true);
    expect(await counts(semaphore)).toEqual([10, 0, 10]);
    expect(leases.map(({ isHeld }) => isHeld)).not.toContain(true);
  });

  it('notifies the holder in this process when its permit is released by its id', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2);
    const lease = await semaphore.acquire();
    await using other = await semaphore.acquire();
    await semaphore.release(lease.permitIds);
    expect([lease.isHeld, lease.signal.aborted, other.isHeld]).toEqual([false, true, true]);
    await lease.release();
    expect(await counts(semaphore)).toEqual([1, 1, 2]);
  });

  it('counts an id that appears twice in a list once', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2);
    const [id = ''] = (await semaphore.acquire()).permitIds;
    await semaphore.release([id, id.toUpperCase()]);
    expect(await counts(semaphore)).toEqual([2, 0, 2]);
  });

  it('has nothing to do for an empty list', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.semaphore(key).tryRelease([])).toBe(true);
    await mine.semaphore(key).release([]);
    await isGranted(theirs.semaphore(key, { permits: 2 }).acquire({ permits: 2 }));
  });
}

async function counts(semaphore: RedisPermitExpirableSemaphore): Promise<number[]> {
  return Promise.all([
    semaphore.availablePermits(),
    semaphore.acquiredPermits(),
    semaphore.getPermits(),
  ]);
}

/** The option `permits`: the number that a deployment declares, against the number on the server. */
export function permitExpirableSemaphoreDeclaredSuite({ it, test, stage }: OnRedis): void {
  test('is set with the first acquire where the semaphore is new, and not before', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    expect(await stage().keys()).toEqual([]);
    await using lease = (await semaphore.tryAcquire({ permits: 3 }))!;
    expect(lease.isHeld).toBe(true);
    expect(await semaphore.getPermits()).toBe(3);
  });

  it('is changed by a deployment with another number, up and down', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.semaphore(key, { permits: 2 }).acquire({ permits: 2 });
    await using more = (await theirs.semaphore(key, { permits: 5 }).tryAcquire({ permits: 3 }))!;
    expect([lease.isHeld, more.isHeld]).toEqual([true, true]);
    const later = await stage().client();
    expect(await later.semaphore(key, { permits: 1 }).tryAcquire()).toBeUndefined();
    expect(await later.semaphore(key).availablePermits()).toBe(-4);
  });

  it('takes nothing away from a holder of more permits than there are now, and is reduced once they are released', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.semaphore(key, { permits: 3 }).acquire({ permits: 3 });
    const semaphore = theirs.semaphore(key, { permits: 1 });
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(held.isHeld).toBe(true);
    await held.release();
    await using one = (await semaphore.tryAcquire())!;
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect([one.isHeld, await semaphore.getPermits()]).toEqual([true, 1]);
  });

  test('wakes a waiter when it grows', async () => {
    const { mine, theirs, key } = stage();
    const small = mine.semaphore(key, { permits: 1 });
    await using _ = await small.acquire();
    const { lease: waiting } = await stage().queue(mine, mine.semaphore(key));
    await stage().listening(semaphoreNames(key).channel);
    await using second = (await theirs.semaphore(key, { permits: 3 }).tryAcquire())!;
    await using third = await waiting;
    expect([second.isHeld, third.isHeld]).toEqual([true, true]);
  });

  it('follows the last acquire while two deployments declare different numbers', async () => {
    const { mine, theirs, key } = stage();
    const semaphores = [mine.semaphore(key, { permits: 2 }), theirs.semaphore(key, { permits: 4 })];
    for (const [semaphore, permits] of [...semaphores, ...semaphores].map(
      (each, i) => [each, i % 2 === 0 ? 2 : 4] as const,
    )) {
      await (await semaphore.acquire()).release();
      expect(await semaphore.getPermits()).toBe(permits);
    }
  });

  it('leaves a number alone that was set elsewhere', async () => {
    const { mine, theirs, key } = stage();
    await stage().command('SET', key, 7);
    const semaphore = mine.semaphore(key, { permits: 3 });
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(7);
    await theirs.semaphore(key).setPermits(5);
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(5);
    await theirs.semaphore(key).addPermits(-1);
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(4);
  });

  it('counts held and expired permits when it sets a new number', async () => {
    const { mine, theirs, key } = stage();
    const first = mine.semaphore(key, { permits: 4 });
    await using held = await first.acquire();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection });
    await dying.semaphore(key).acquire({ permits: 2, lease: 200 });
    connection.disconnect();
    await eventually('its lease is over', async () => (await first.acquiredPermits()) === 1);
    const second = theirs.semaphore(key, { permits: 6 });
    await using more = (await second.tryAcquire({ permits: 5 }))!;
    expect([held.isHeld, more.isHeld]).toEqual([true, true]);
    expect(await second.getPermits()).toBe(6);
  });

  it('is set anew where the semaphore has vanished, less what is held', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    await using held = await semaphore.acquire({ permits: 2 });
    await stage().command('DEL', key);
    await using last = (await theirs.semaphore(key, { permits: 3 }).tryAcquire())!;
    expect([held.isHeld, last.isHeld]).toEqual([true, true]);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await semaphore.getPermits()).toBe(3);
  });

  it('is kept while a permit is held, and has its time to live from then on', async () => {
    const semaphore = await shortLived(2, 60_000);
    const first = await semaphore.acquire();
    const second = await semaphore.acquire();
    expect(await ttls()).toEqual([-1, -1]);
    await first.release();
    expect(await ttls()).toEqual([-1, -1]);
    await second.release();
    expect(await ttls()).toEqual(Array(2).fill(expect.closeTo(60_000, -4)));
    await using _ = await semaphore.acquire();
    expect(await ttls()).toEqual([-1, -1]);
    expect(await semaphore.availablePermits()).toBe(1);
  });

  it('has its time to live also when its permits are released by their ids', async () => {
    const semaphore = await shortLived(2, 60_000);
    const { permitIds } = await semaphore.acquire({ permits: 2 });
    await semaphore.release(permitIds[0]!);
    expect(await ttls()).toEqual([-1, -1]);
    await semaphore.release(permitIds[1]!);
    expect(await ttls()).toEqual(Array(2).fill(expect.closeTo(60_000, -4)));
  });

  it('is forgotten after its time to live, and set anew by the next acquire', async () => {
    const semaphore = await shortLived(2, 100);
    await (await semaphore.acquire({ permits: 2 })).release();
    await eventually('it is forgotten', async () => (await stage().keys()).length === 0);
    await using _ = await semaphore.acquire({ permits: 2 });
    expect(await semaphore.tryAcquire()).toBeUndefined();
  });

  it('stays where the number of permits is not declared', async () => {
    const client = await stage().client({ semaphoreTimeToLive: 100 });
    const semaphore = client.semaphore(stage().key);
    await semaphore.setPermits(2);
    await (await semaphore.acquire()).release();
    expect(await stage().command('PTTL', stage().key)).toBe(-1);
  });

  it.each([
    ['a client without that option', { permits: 1 }],
    ['one that declares no number', {}],
    ['one that declares another number', { permits: 2 }],
  ])('is kept by a permit of %s', async (_, options) => {
    const semaphore = await shortLived(1, 60_000);
    await (await semaphore.acquire()).release();
    await using held = await stage().mine.semaphore(stage().key, options).acquire();
    expect([await ttls(), await ttlOfHeld()]).toEqual([[-1, -1], -1]);
    expect(held.isHeld).toBe(true);
  });

  it('is kept by a permit after a new number was declared in vain', async () => {
    const { mine, theirs, key } = stage();
    const { queue, alive } = semaphoreNames(key);
    const semaphore = await shortLived(1, 60_000);
    await (await semaphore.acquire()).release();
    await stage().command('RPUSH', queue, 'first');
    await stage().command('ZADD', alive, Date.now() + 600_000, 'first');
    expect(await theirs.semaphore(key, { permits: 2, fair: true }).tryAcquire()).toBeUndefined();
    expect(await ttls()).toEqual(Array(2).fill(expect.closeTo(60_000, -4)));
    await using _ = await mine.semaphore(key).acquire();
    expect(await ttls()).toEqual([-1, -1]);
    await stage().command('DEL', queue, alive);
  });

  it('also keeps permits of others that were to end with it', async () => {
    const { key } = stage();
    const { timeouts } = semaphoreNames(key);
    const semaphore = await shortLived(2, 60_000);
    await (await semaphore.acquire()).release();
    await stage().command('DECR', key); // as Redisson acquires one
    await stage().command('ZADD', timeouts, Date.now() + 600_000, 'x'.repeat(16));
    await stage().command('PEXPIRE', timeouts, 60_000);
    await using _ = await semaphore.acquire();
    expect([await ttls(), await ttlOfHeld()]).toEqual([[-1, -1], -1]);
    await stage().command('ZREM', timeouts, 'x'.repeat(16));
  });

  it('has no time to live where only a release by id declares its number', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).setPermits(2);
    const { permitIds } = await mine.semaphore(key).acquire();
    await (await shortLived(2, 60_000)).release(permitIds);
    expect(await stage().command('PTTL', key)).toBe(-1);
  });

  async function shortLived(permits: number, semaphoreTimeToLive: number) {
    const client = await stage().client({ semaphoreTimeToLive });
    return client.semaphore(stage().key, { permits });
  }

  /** How long the numbers of free and of declared permits will be known, in ms; -1: for good. */
  async function ttls(): Promise<unknown[]> {
    const { free, wanted } = semaphoreNames(stage().key);
    return [await stage().command('PTTL', free), await stage().command('PTTL', wanted)];
  }

  /** The same of the permits that are held. */
  function ttlOfHeld(): Promise<unknown> {
    return stage().command('PTTL', semaphoreNames(stage().key).timeouts);
  }
}
