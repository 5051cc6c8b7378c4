import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockKeyError, LockLostError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisStage } from './redis-stage.js';

/** What the spin lock has in common with the mutex. */
export function spinLockOwnershipSuite(stage: () => RedisStage): void {
  it('can be locked again and again (Redisson: RedissonSpinLockTest testLockUnlock)', async () => {
    const spin = stage().mine.spinLock(stage().key);
    for (let time = 0; time < 3; time++) {
      const lease = await spin.acquire();
      expect(lease.isHeld).toBe(true);
      await lease.release();
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is locked from its grant to its release (Redisson: RedissonSpinLockTest testIsLocked)', async () => {
    const spin = stage().mine.spinLock(stage().key);
    expect(await spin.isLocked()).toBe(false);
    const lease = await spin.acquire();
    expect(await spin.isLocked()).toBe(true);
    await lease.release();
    expect(await spin.isLocked()).toBe(false);
  });

  it('is locked for other clients too (Redisson: RedissonSpinLockTest testIsLockedOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire();
    expect(await theirs.spinLock(key).isLocked()).toBe(true);
    await lease.release();
    expect(await theirs.spinLock(key).isLocked()).toBe(false);
  });

  it('is held by its lease up to the release (Redisson: RedissonSpinLockTest testIsHeldByCurrentThread)', async () => {
    const lease = await stage().mine.spinLock(stage().key).acquire();
    expect(lease.isHeld).toBe(true);
    await lease.release();
    expect(lease.isHeld).toBe(false);
  });

  it('is not held outside the scope of the lease (Redisson: RedissonSpinLockTest testIsHeldByCurrentThreadOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.spinLock(key).acquire();
    for (const client of [mine, theirs])
      expect(await client.spinLock(key).tryAcquire()).toBeUndefined();
    expect((await theirs.spinLock(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
  });

  it('is held until as many leases are released as were acquired (Redisson: RedissonSpinLockTest testGetHoldCount)', async () => {
    const { mine, theirs, key } = stage();
    const spin = mine.spinLock(key);
    const first = await spin.acquire();
    const second = await first.run(() => spin.acquire());
    await first.release();
    expect([second.isHeld, await theirs.spinLock(key).tryAcquire()]).toEqual([true, undefined]);
    await second.release();
    expect(await spin.isLocked()).toBe(false);
  });

  it('lets its holder in again, and no other client (Redisson: RedissonSpinLockTest testReentrancy)', async () => {
    const { mine, theirs, key } = stage();
    const spin = mine.spinLock(key);
    await spin.using(async () => {
      await using again = await spin.tryAcquire();
      await spin.using(() => expect(again?.isHeld).toBe(true));
      expect(await theirs.spinLock(key).tryAcquire()).toBeUndefined();
    });
    await using next = await theirs.spinLock(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('works for keys on all servers (Redisson: RedissonSpinLockTest testInCluster)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
    for (let time = 0; time < 3; time++) {
      const leases = await Promise.all(keys.map((each) => mine.spinLock(each).acquire()));
      const others = await Promise.all(keys.map((each) => theirs.spinLock(each).tryAcquire()));
      expect(others.filter(Boolean)).toEqual([]);
      await Promise.all(leases.map((lease) => lease.release()));
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is not released by its former holder (Redisson: RedissonSpinLockTest testUnlockFail)', async () => {
    const { mine, theirs, key } = stage();
    const before = await theirs.spinLock(key).acquire();
    await stage().command('DEL', key);
    await using lease = await mine.spinLock(key).acquire();

    await before.release();
    expect((await mine.spinLock(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
  });

  it('is free when it is unlocked by force, and its holder learns of it (Redisson: RedissonSpinLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const spin = mine.spinLock(key);
    expect(await spin.forceUnlock()).toBe(false);
    const lease = await spin.acquire();

    expect(await spin.forceUnlock()).toBe(true);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await using next = await theirs.spinLock(key).tryAcquire();
    await lease.release();
    expect([next?.isHeld, await spin.isLocked()]).toEqual([true, true]);
  });

  it('excludes a mutex of another process under its key, and is excluded by one', async () => {
    const { mine, theirs, key } = stage();
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

  it('loses no update of one client (Redisson: RedissonSpinLockTest testConcurrency_SingleInstance)', async () => {
    expect(await updates([stage().mine], 16)).toBe(16);
  });

  it('loses no update of clients that acquire it again and again (Redisson: RedissonSpinLockTest testConcurrencyLoop_MultiInstance)', async () => {
    expect(await updates(await clients(4), 20)).toBe(80);
  });

  it('loses no update of many clients (Redisson: RedissonSpinLockTest testConcurrency_MultiInstance)', async () => {
    expect(await updates(await clients(12), 1)).toBe(12);
  });

  function clients(count: number): Promise<RedisLockClient[]> {
    return Promise.all(Array.from({ length: count }, () => stage().client()));
  }

  /** Has each client read in one turn and write in the next; resolves to the resulting number. */
  async function updates(visitors: RedisLockClient[], each: number): Promise<number> {
    let number = 0;
    const visit = async () => {
      const seen = number;
      await nextTurn();
      number = seen + 1;
    };
    const work = visitors.flatMap((client) =>
      Array.from({ length: each }, () => client.spinLock(stage().key).using(visit)),
    );
    await Promise.all(work);
    return number;
  }
}
