import { describe, expect } from '@jest/globals';
import { hostname } from 'node:os';
import { LockKeyError, LockLostError } from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { RedisLock } from '../../lib/redis/locks/redis-lock.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis } from './support/redis-stage.js';

export type Of = (client: RedisLockClient, key: string) => RedisLock;

/** The kinds that have everything but the way of their waiters in common. */
export const MUTEXES: readonly (readonly [name: string, of: Of])[] = [
  ['mutex', (client, key) => client.mutex(key)],
  ['fair mutex', (client, key) => client.mutex(key, { fair: true })],
  ['spin lock', (client, key) => client.spinLock(key)],
];

/** The holder of a mutex, and its release. */
export function ownershipSuite(on: OnRedis): void {
  describe.each(MUTEXES)('of a %s', (name, of) => ownershipOfKind(on, name, of));

  describe.each([{}, { fair: true }])('of a mutex that is not reentrant, with %j,', (options) => {
    const { it, stage } = on;
    const of: Of = (client, key) => client.semaphoreMutex(key, options);

    it('does not admit a nested acquire (Redisson: RedissonNonReentrantLockTest testSameThreadReacquireThrows) (Redisson: RedissonNonReentrantFairLockTest testSameThreadReacquireThrows)', async () => {
      const { mine, names, key } = stage();
      const mutex = of(mine, key);
      await mutex.using(async () => {
        expect(await mutex.tryAcquire()).toBeUndefined();
        expect(Object.values(await stage().fields(key))).toContain('1');
        expect(await stage().command('EXISTS', names.queue)).toBe(0);
      });
      expect(await mutex.isLocked()).toBe(false);
    });

    it('excludes other objects of the same lock (Redisson: RedissonNonReentrantLockTest testCrossInstanceSameThreadReentryThrows) (Redisson: RedissonNonReentrantFairLockTest testCrossInstanceSameThreadReentryThrows)', async () => {
      const { mine, key } = stage();
      await of(mine, key).using(async () => {
        expect(await of(mine, key).tryAcquire()).toBeUndefined();
      });
    });

    it('goes to a waiter (Redisson: RedissonNonReentrantLockTest testContendingThreadBlocksAndAcquiresOnRelease) (Redisson: RedissonNonReentrantFairLockTest testContendingThreadBlocksAndAcquiresOnRelease)', async () => {
      const { mine, theirs, key } = stage();
      const lease = await of(mine, key).acquire();
      const { lease: waiting } = await stage().queue(theirs, of(theirs, key));
      await lease.release();
      await isGranted(waiting);
    });
  });

  on.it('is exclusive between spin locks and mutexes of other processes', async () => {
    const { mine, theirs, key } = on.stage();
    const lease = await mine.spinLock(key).acquire();
    expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    await lease.release();
    await theirs.mutex(key).using(async () => {
      expect(await mine.spinLock(key).tryAcquire()).toBeUndefined();
    });
    await using next = await mine.spinLock(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
    expect(() => mine.mutex(key)).toThrow(LockKeyError); // within one client it would wait to be woken
  });
}

function ownershipOfKind({ it, test, stage }: OnRedis, name: string, of: Of): void {
  const holders = async () => (await of(stage().mine, stage().key).holders()).map(({ id }) => id);

  it('can be had again and again, by a new holder each time (Redisson: RedissonLockTest testLockUnlock) (Redisson: RedissonFairLockTest testLockUnlock) (Redisson: RedissonSpinLockTest testLockUnlock)', async () => {
    const mutex = of(stage().mine, stage().key);
    const owners: string[] = [];
    for (let time = 0; time < 3; time++) {
      const lease = await mutex.acquire();
      expect(lease.isHeld).toBe(true);
      owners.push(lease.holder);
      await lease.release();
      expect(await stage().keys()).toEqual([]);
    }
    expect(new Set(owners).size).toBe(3);
  });

  it('shows from its grant to its release that it is locked (Redisson: RedissonLockTest testIsLocked) (Redisson: RedissonFairLockTest testIsLocked) (Redisson: RedissonSpinLockTest testIsLocked)', async () => {
    const mutex = of(stage().mine, stage().key);
    expect(await mutex.isLocked()).toBe(false);
    const lease = await mutex.acquire();
    expect(await mutex.isLocked()).toBe(true);
    await lease.release();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('shows other clients too that it is locked (Redisson: RedissonLockTest testIsLockedOtherThread) (Redisson: RedissonFairLockTest testIsLockedOtherThread) (Redisson: RedissonSpinLockTest testIsLockedOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await of(mine, key).acquire();
    expect(await of(theirs, key).isLocked()).toBe(true);
    await lease.release();
    expect(await of(theirs, key).isLocked()).toBe(false);
  });

  it('belongs to nobody outside the scope of its lease, nor to a waiter (Redisson: RedissonLockTest testIsHeldByCurrentThreadOtherThread) (Redisson: RedissonFairLockTest testIsHeldByCurrentThreadOtherThread) (Redisson: RedissonSpinLockTest testIsHeldByCurrentThreadOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await of(mine, key).acquire();
    expect(currentLease()).toBeUndefined();
    for (const client of [mine, theirs]) expect(await of(client, key).tryAcquire()).toBeUndefined();
    const { lease: waiting } = await stage().queue(theirs, of(theirs, key));
    const seen = await of(theirs, key).holders();
    expect(seen).toMatchObject([{ id: lease.holder, mode: 'alone', pid: process.pid }]);

    await lease.release();
    await using next = await waiting;
    expect(await holders()).toEqual([next.holder]);
  });

  it('lets its holder in again past the waiters, and no other client (Redisson: RedissonLockTest testReentrancy) (Redisson: RedissonFairLockTest testReentrancy) (Redisson: RedissonSpinLockTest testReentrancy)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = of(mine, key);
    const { lease } = await mutex.using(async () => {
      const waiting = await stage().queue(theirs, of(theirs, key));
      await using again = await mutex.tryAcquire();
      expect(again?.isHeld).toBe(true);
      await mutex.using(() => expect(currentLease()?.isHeld).toBe(true));
      expect(await of(theirs, key).tryAcquire()).toBeUndefined();
      return waiting;
    });
    await isGranted(lease);
  });

  test('works for keys on all servers (Redisson: RedissonLockTest testInCluster) (Redisson: RedissonSpinLockTest testInCluster)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
    for (let time = 0; time < 3; time++) {
      const leases = await Promise.all(keys.map((each) => of(mine, each).acquire()));
      expect(await stage().keys()).toEqual([...keys].sort());
      const others = await Promise.all(keys.map((each) => of(theirs, each).tryAcquire()));
      expect(others.filter(Boolean)).toEqual([]);
      await Promise.all(leases.map((lease) => lease.release()));
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is not released by its former holder (Redisson: RedissonLockTest testUnlockFail) (Redisson: RedissonFairLockTest testUnlockFail) (Redisson: RedissonSpinLockTest testUnlockFail)', async () => {
    const { mine, theirs, key } = stage();
    const before = await of(theirs, key).acquire();
    await stage().command('DEL', key);
    await using lease = await of(mine, key).acquire();
    await before.release();
    expect(await holders()).toEqual([lease.holder]);
  });

  it('is free when it is unlocked by force, and its holder learns of it (Redisson: RedissonLockTest testForceUnlock) (Redisson: RedissonSpinLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = of(mine, key);
    expect(await mutex.forceUnlock()).toBe(false);
    const lease = await mutex.acquire();

    expect(await mutex.forceUnlock()).toBe(true);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    expect(lease.signal.reason).toMatchObject({ message: expect.stringContaining('by force') });
    await using next = await of(theirs, key).tryAcquire();
    await lease.release();
    expect([next?.isHeld, await mutex.isLocked()]).toEqual([true, true]);
  });

  test('goes to a waiter when another client unlocks it by force (Redisson: RedissonFairLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const watched = await stage().client({ watchdogTimeout: 600 });
    const lease = await of(watched, key).acquire();
    const { lease: waiting } = await stage().queue(theirs, of(theirs, key));
    if (name !== 'spin lock') await stage().asleep();

    expect(await of(mine, key).forceUnlock()).toBe(true);
    const next = await waiting;
    await eventually('the holder learns of it, at its next renewal', () => lease.signal.aborted);
    await next.release();
    expect([await of(mine, key).forceUnlock(), await of(mine, key).isLocked()]).toEqual([
      false,
      false,
    ]);
    await lease.release();
  });
}

const OF_MUTEX: Record<string, Of> = {
  ...Object.fromEntries(MUTEXES.slice(0, 2)),
  'fenced mutex': (client, key) => client.mutex(key, { fenced: true }),
  'semaphore mutex': (client, key) => client.semaphoreMutex(key),
};
const HALVES = ['readLock', 'writeLock'] as const;

/** Locks of kinds that do not exclude each other, under one key. */
export function lockKindsSuite({ it, stage }: OnRedis): void {
  describe('on the server', () => {
    const pairs = Object.keys(OF_MUTEX).flatMap((mutex) =>
      HALVES.map((half) => [mutex, half] as const),
    );

    it.each(pairs)('rejects a %s where there is a %s', async (mutex, half) => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.readWriteLock(key)[half]().acquire();
      const before = await stage().fields(key);
      const refused = OF_MUTEX[mutex]!(mine, key);
      await expect(refused.acquire()).rejects.toThrow(/read\/write lock/);
      await expect(refused.tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().fields(key)).toEqual(before);
    });

    it.each(pairs)('rejects, where there is a %s, a %s', async (mutex, half) => {
      const { mine, theirs, key } = stage();
      await using _ = await OF_MUTEX[mutex]!(theirs, key).acquire();
      const before = await stage().fields(key);
      const refused = mine.readWriteLock(key)[half]();
      await expect(refused.acquire()).rejects.toThrow(/mutex/);
      await expect(refused.tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().fields(key)).toEqual(before);
    });

    it('leaves a read/write lock alone when it is unlocked by force as a mutex', async () => {
      const { mine, theirs, key } = stage();
      await using held = await theirs.readWriteLock(key).writeLock().acquire();
      await expect(mine.mutex(key).forceUnlock()).rejects.toBeInstanceOf(LockKeyError);
      expect(await stage().command('EXISTS', key)).toBe(1);
      expect(held.isHeld).toBe(true);
    });

    it('leaves a mutex alone when it is unlocked by force as a read/write lock', async () => {
      const { mine, theirs, key } = stage();
      await using held = await theirs.mutex(key).acquire();
      for (const mode of ['read', 'write'] as const)
        expect(await mine.readWriteLock(key).forceUnlock(mode)).toBe(false);
      expect(await stage().command('EXISTS', key)).toBe(1);
      expect(held.isHeld).toBe(true);
    });

    it('is free for another kind once it is not held', async () => {
      const { mine, theirs, key } = stage();
      await (await theirs.readWriteLock(key).readLock().acquire()).release();
      await isGranted(mine.mutex(key).acquire());
    });
  });

  describe('in one client', () => {
    it('rejects another kind before it asks the server', async () => {
      const { mine, key } = stage();
      mine.mutex(key);
      expect(() => mine.readWriteLock(key)).toThrow(LockKeyError);
      expect(() => mine.semaphoreMutex(key)).toThrow(LockKeyError);
      expect(() => mine.mutex(key, { fair: true })).toThrow(LockKeyError);
      mine.readWriteLock(`${key}-2`);
      expect(() => mine.mutex(`${key}-2`)).toThrow(LockKeyError);
    });

    it('treats fenced and plain mutexes as one: they exclude each other', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire();
      expect(await mine.mutex(key, { fenced: true }).tryAcquire()).toBeUndefined();
      const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, { fenced: true }));
      await lease.release();
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    });
  });
}

/** What an operator sees of the holders of locks. */
export function lockHoldersSuite({ it, test, stage }: OnRedis): void {
  it('reports no holder while it is free', async () => {
    const { mine, key } = stage();
    expect(await mine.mutex(key).holders()).toEqual([]);
    await (await mine.mutex(key).acquire()).release();
    expect(await mine.mutex(key).holders()).toEqual([]);
  });

  it.each([{}, { fenced: true }, { fair: true }])(
    'reports the process of its holder, the method, and the time of the grant, for a mutex %j',
    async (options) => {
      const { mine, theirs, key } = stage();
      const before = Date.now();
      await using lease = await mine.mutex(key, options).acquire({ method: 'Orders.close' });
      const [holder, ...others] = await theirs.mutex(key, options).holders();
      expect(others).toEqual([]);
      expect(holder).toEqual({
        id: lease.holder,
        mode: 'alone',
        host: hostname(),
        pid: process.pid,
        method: 'Orders.close',
        since: expect.any(Date),
      });
      expect(holder!.since!.getTime()).toBeGreaterThanOrEqual(before);
      expect(holder!.since!.getTime()).toBeLessThanOrEqual(Date.now());
    },
  );

  it('reports no reader after the end of its lease, though its field stays while others read', async () => {
    const { mine, theirs, key } = stage();
    await using reader = await mine.readWriteLock(key).readLock().acquire();
    const crashed = await theirs.readWriteLock(key).readLock().acquire({ lease: 300 });
    const names = async () => (await mine.readWriteLock(key).holders()).map(({ id }) => id);
    await eventually('it is not named', async () => (await names()).length === 1);
    expect(await names()).toEqual([reader.holder]);
    expect(await stage().fields(key)).toHaveProperty([crashed.holder]);
    await crashed.release();
  });

  test('reports readers and writers of Redisson by their owners', async () => {
    const { mine, key } = stage();
    const owner = 'b983c153-7421-469a-addb-44fb92259a1b:47';
    await stage().command('HSET', key, 'mode', 'write', `${owner}:write`, 1, owner, 1);
    await stage().command('SET', `{${key}}:${owner}:rwlock_timeout:1`, 1);
    expect(await mine.readWriteLock(key).holders()).toEqual([
      { id: owner, mode: 'write' },
      { id: owner, mode: 'read' },
    ]);
    await stage().command('DEL', key, `{${key}}:${owner}:rwlock_timeout:1`);
  });

  it('reports a holder of Redisson by its owner', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, 'b983c153-7421-469a-addb-44fb92259a1b:47', 2);
    expect(await mine.mutex(key).holders()).toEqual([
      { id: 'b983c153-7421-469a-addb-44fb92259a1b:47', mode: 'alone' },
    ]);
    await stage().command('DEL', key);
  });

  it('reports a holder by its owner where its details were overwritten with unreadable text', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    for (const text of ['', '7', '{', '{"host":']) {
      await stage().command('HSET', key, 'nestjs-interlock', text);
      expect(await mine.mutex(key).holders()).toEqual([{ id: lease.holder, mode: 'alone' }]);
    }
  });
}
