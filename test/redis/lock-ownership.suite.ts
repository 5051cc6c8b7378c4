import { expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** The holder of the lock, and its release. */
export function lockOwnershipSuite(stage: () => RedisStage): void {
  it('is locked from its grant to its release (Redisson: RedissonLockTest testIsLocked)', async () => {
    const mutex = stage().mine.mutex(stage().key);
    expect(await mutex.isLocked()).toBe(false);
    const lease = await mutex.acquire();
    expect(await mutex.isLocked()).toBe(true);
    await lease.release();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('is locked for other clients too (Redisson: RedissonLockTest testIsLockedOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    expect(await theirs.mutex(key).isLocked()).toBe(true);
    await lease.release();
    expect(await theirs.mutex(key).isLocked()).toBe(false);
  });

  it('is held by its lease up to the release (Redisson: RedissonLockTest testIsHeldByCurrentThread)', async () => {
    const mutex = stage().mine.mutex(stage().key);
    expect(currentLease()).toBeUndefined();
    const lease = await mutex.acquire();
    expect(await lease.run(() => currentLease())).toBe(lease);
    expect(lease.isHeld).toBe(true);
    lease.assertHeld();

    await lease.release();
    expect(lease.isHeld).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
  });

  it('is not held outside the scope of the lease (Redisson: RedissonLockTest testIsHeldByCurrentThreadOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    expect(currentLease()).toBeUndefined();
    for (const client of [mine, theirs])
      expect(await client.mutex(key).tryAcquire()).toBeUndefined();
    expect((await theirs.mutex(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
  });

  it('is held until as many leases are released as were acquired (Redisson: RedissonLockTest testGetHoldCount)', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const first = await mutex.acquire();
    const second = await first.run(() => mutex.acquire());
    const third = await second.run(() => mutex.acquire());
    expect([second.holder, third.holder]).toEqual([first.holder, first.holder]);
    expect(await stage().fields(key)).toMatchObject({ [first.holder]: '1' }); // the others are counted in the client

    for (const lease of [first, third]) {
      await lease.release();
      expect([lease.isHeld, second.isHeld, await mutex.isLocked()]).toEqual([false, true, true]);
    }
    await second.release();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('lets its holder in again, and no other client (Redisson: RedissonLockTest testReentrancy)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key);
    await mutex.using(async () => {
      await using again = await mutex.tryAcquire();
      expect(again?.isHeld).toBe(true);
      await mutex.using(() => expect(currentLease()?.isHeld).toBe(true));
      expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    });
    await using next = await theirs.mutex(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('can be locked again and again (Redisson: RedissonLockTest testLockUnlock)', async () => {
    const mutex = stage().mine.mutex(stage().key);
    const holders: string[] = [];
    for (let time = 0; time < 3; time++) {
      const lease = await mutex.acquire();
      holders.push(lease.holder);
      await lease.release();
    }
    expect(new Set(holders).size).toBe(3);
  });

  it('works for keys on all servers (Redisson: RedissonLockTest testInCluster)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
    for (let time = 0; time < 3; time++) {
      const leases = await Promise.all(keys.map((each) => mine.mutex(each).acquire()));
      expect(await stage().keys()).toEqual([...keys].sort());
      const others = await Promise.all(keys.map((each) => theirs.mutex(each).tryAcquire()));
      expect(others.filter(Boolean)).toEqual([]);
      await Promise.all(leases.map((lease) => lease.release()));
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is not released by its former holder (Redisson: RedissonLockTest testUnlockFail)', async () => {
    const { mine, theirs, key } = stage();
    const before = await theirs.mutex(key).acquire();
    await stage().command('DEL', key);
    await using lease = await mine.mutex(key).acquire();

    await before.release();
    expect((await mine.mutex(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
  });

  it('is free when it is unlocked by force, and its holder learns of it (Redisson: RedissonLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key);
    expect(await mutex.forceUnlock()).toBe(false);
    const lease = await mutex.acquire();

    expect(await mutex.forceUnlock()).toBe(true);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    expect(lease.signal.reason).toMatchObject({ message: expect.stringContaining('by force') });
    await using next = await theirs.mutex(key).tryAcquire();
    await lease.release();
    expect([next?.isHeld, await mutex.isLocked()]).toEqual([true, true]);
  });

  it('is granted to a waiter when another client unlocks it by force', async () => {
    const { mine, theirs, key } = stage();
    const watched = await stage().client({ watchdogTimeout: 1_000 });
    const lease = await watched.mutex(key).acquire();
    const { lease: waiting } = await stage().queue(theirs);
    await stage().listening(stage().names.channel);

    expect(await mine.mutex(key).forceUnlock()).toBe(true);
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
    await eventually(
      'the signal of the holder aborts, at its next renewal',
      () => lease.signal.aborted,
    );
  });

  it('does not admit a nested acquire where it is not reentrant (Redisson: RedissonNonReentrantLockTest testSameThreadReacquireThrows)', async () => {
    const { mine, key } = stage();
    const mutex = mine.semaphoreMutex(key);
    await mutex.using(async () => {
      expect(await mutex.tryAcquire()).toBeUndefined();
      expect(Object.values(await stage().fields(key))).toContain('1');
    });
    expect(await mutex.isLocked()).toBe(false);
  });

  it('excludes other objects of the same lock where it is not reentrant (Redisson: RedissonNonReentrantLockTest testCrossInstanceSameThreadReentryThrows)', async () => {
    const { mine, key } = stage();
    await mine.semaphoreMutex(key).using(async () => {
      expect(await mine.semaphoreMutex(key).tryAcquire()).toBeUndefined();
    });
  });

  it('goes to a waiter where it is not reentrant (Redisson: RedissonNonReentrantLockTest testContendingThreadBlocksAndAcquiresOnRelease)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.semaphoreMutex(key).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.semaphoreMutex(key));
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });
}
