import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

const FAIR = { fair: true };

/** What the fair lock has in common with the plain one. */
export function fairLockOwnershipSuite(stage: () => RedisStage): void {
  it('can be locked again and again (Redisson: RedissonFairLockTest testLockUnlock)', async () => {
    const mutex = stage().mine.mutex(stage().key, FAIR);
    for (let time = 0; time < 3; time++) {
      const lease = await mutex.acquire();
      expect(lease.isHeld).toBe(true);
      await lease.release();
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is locked from its grant to its release (Redisson: RedissonFairLockTest testIsLocked)', async () => {
    const mutex = stage().mine.mutex(stage().key, FAIR);
    expect(await mutex.isLocked()).toBe(false);
    const lease = await mutex.acquire();
    expect(await mutex.isLocked()).toBe(true);
    await lease.release();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('is locked for other clients too (Redisson: RedissonFairLockTest testIsLockedOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(await theirs.mutex(key, FAIR).isLocked()).toBe(true);
    await lease.release();
    expect(await theirs.mutex(key, FAIR).isLocked()).toBe(false);
  });

  it('is held by its lease up to the release (Redisson: RedissonFairLockTest testIsHeldByCurrentThread)', async () => {
    const { mine, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(lease.isHeld).toBe(true);
    await lease.release();
    expect(lease.isHeld).toBe(false);
  });

  it('is not held by a waiter (Redisson: RedissonFairLockTest testIsHeldByCurrentThreadOtherThread)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    const holders = await theirs.mutex(key, FAIR).holders();
    expect(holders).toMatchObject([{ id: lease.holder, mode: 'alone', pid: process.pid }]);

    await lease.release();
    await using next = await waiting;
    expect((await mine.mutex(key, FAIR).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('is held until as many leases are released as were acquired (Redisson: RedissonFairLockTest testGetHoldCount)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key, FAIR);
    const first = await mutex.acquire();
    const second = await first.run(() => mutex.acquire());
    await first.release();
    expect([second.isHeld, await theirs.mutex(key, FAIR).tryAcquire()]).toEqual([true, undefined]);
    await second.release();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('lets its holder in again past the waiters, and no other client (Redisson: RedissonFairLockTest testReentrancy)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key, FAIR);
    const waiting = await mutex.using(async () => {
      const { lease } = await stage().queue(theirs, theirs.mutex(key, FAIR));
      await using again = await mutex.tryAcquire();
      await mutex.using(() => expect(again?.isHeld).toBe(true));
      expect(await theirs.mutex(key, FAIR).tryAcquire()).toBeUndefined();
      return { lease };
    });
    await (await waiting.lease).release();
  });

  it('is not released by its former holder (Redisson: RedissonFairLockTest testUnlockFail)', async () => {
    const { mine, theirs, key } = stage();
    const before = await theirs.mutex(key, FAIR).acquire();
    await stage().command('DEL', key);
    await using lease = await mine.mutex(key, FAIR).acquire();

    await before.release();
    expect((await mine.mutex(key, FAIR).holders()).map(({ id }) => id)).toEqual([lease.holder]);
  });

  it('is waited for no longer than requested (Redisson: RedissonFairLockTest testTryLockWait)', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.mutex(key, FAIR).acquire();
    const begin = performance.now();
    await expect(theirs.mutex(key, FAIR).acquire({ wait: 300 })).rejects.toThrow(LockTimeoutError);
    const waited = performance.now() - begin;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(1_000);
  });

  it('goes to the first waiter when it is unlocked by force (Redisson: RedissonFairLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key, FAIR);
    const watched = await stage().client({ watchdogTimeout: 600 });
    const lease = await watched.mutex(key, FAIR).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, FAIR));

    expect(await mutex.forceUnlock()).toBe(true);
    const next = await waiting;
    await eventually(
      'the signal of the holder aborts, at its next renewal',
      () => lease.signal.aborted,
    );
    await next.release();
    expect([await mutex.forceUnlock(), await mutex.isLocked()]).toEqual([false, false]);
    await lease.release();
  });

  it('goes to a waiter at the end of a lease, and not back (Redisson: RedissonFairLockTest testExpire)', async () => {
    const { mine, theirs, key } = stage();
    const begin = performance.now();
    const lease = await mine.mutex(key, FAIR).acquire({ lease: 500 });
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    await using next = await waiting;
    expect(performance.now() - begin).toBeLessThan(1_500);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);

    await lease.release();
    expect((await mine.mutex(key, FAIR).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('has the prefix of its client in the names of its queue (Redisson: RedissonFairLockTest testNameMapper)', async () => {
    const { key } = stage();
    const client = await stage().client({ prefix: 'app:' });
    const lease = await client.mutex(key, FAIR).acquire();
    const { lease: waiting } = await stage().queue(client, client.mutex(key, FAIR));
    expect(await stage().keys()).toEqual([
      `app:${key}`,
      `interlock_alive:{app:${key}}`,
      `redisson_lock_queue:{app:${key}}`,
      `redisson_lock_timeout:{app:${key}}`,
    ]);
    await lease.release();
    await (await waiting).release();
  });

  it('loses no update of one client (Redisson: RedissonFairLockTest testConcurrency_SingleInstance)', async () => {
    expect(await updates([stage().mine], 16)).toBe(16);
  });

  it('loses no update of clients that acquire it again and again (Redisson: RedissonFairLockTest testConcurrencyLoop_MultiInstance)', async () => {
    expect(await updates(await clients(4), 20)).toBe(80);
  });

  it('loses no update of many clients (Redisson: RedissonFairLockTest testConcurrency_MultiInstance)', async () => {
    expect(await updates(await clients(16), 1)).toBe(16);
  });

  it('does not admit a nested acquire where it is not reentrant (Redisson: RedissonNonReentrantFairLockTest testSameThreadReacquireThrows)', async () => {
    const { mine, key } = stage();
    const mutex = mine.semaphoreMutex(key, FAIR);
    await mutex.using(async () => {
      expect(await mutex.tryAcquire()).toBeUndefined();
      expect(await stage().command('EXISTS', stage().names.queue)).toBe(0);
    });
    expect(await mutex.isLocked()).toBe(false);
  });

  it('excludes other objects of the same lock where it is not reentrant (Redisson: RedissonNonReentrantFairLockTest testCrossInstanceSameThreadReentryThrows)', async () => {
    const { mine, key } = stage();
    await mine.semaphoreMutex(key, FAIR).using(async () => {
      expect(await mine.semaphoreMutex(key, FAIR).tryAcquire()).toBeUndefined();
    });
  });

  it('goes to a waiter where it is not reentrant (Redisson: RedissonNonReentrantFairLockTest testContendingThreadBlocksAndAcquiresOnRelease)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.semaphoreMutex(key, FAIR).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.semaphoreMutex(key, FAIR));
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
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
      Array.from({ length: each }, () => client.mutex(stage().key, FAIR).using(visit)),
    );
    await Promise.all(work);
    return number;
  }
}
