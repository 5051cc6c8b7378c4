import { expect, it } from '@jest/globals';
import { LockUpgradeError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { ReadWriteRoom } from '../contract/read-write-room.js';
import { seededRandom } from '../support/seeded-random.js';
import type { RedisStage } from './redis-stage.js';

/** Which holders may be in together. */
export function readWriteLockSharingSuite(stage: () => RedisStage): void {
  it('can be locked again and again (Redisson: RedissonReadWriteLockTest testLockUnlock)', async () => {
    const lock = stage().mine.readWriteLock(stage().key);
    for (const half of [lock.writeLock(), lock.readLock(), lock.writeLock(), lock.readLock()]) {
      const lease = await half.acquire();
      expect(lease.isHeld).toBe(true);
      await lease.release();
      expect(await stage().keys()).toEqual([]);
    }
  });

  it('is locked from its grant to its release (Redisson: RedissonReadWriteLockTest testIsLocked)', async () => {
    for (const half of ['read', 'write'] as const) {
      expect(await modes()).toEqual([]);
      const lease = await halves(stage().mine)[half].acquire();
      expect(await modes()).toEqual([half]);
      await lease.release();
    }
    expect(await modes()).toEqual([]);
  });

  it('is locked for other clients too (Redisson: RedissonReadWriteLockTest testIsLockedOtherThread)', async () => {
    const lease = await halves(stage().mine).write.acquire();
    const seen = await stage().theirs.readWriteLock(stage().key).holders();
    expect(seen).toMatchObject([{ id: lease.holder, mode: 'write', pid: process.pid }]);
    await lease.release();
  });

  it('is not read while it is written, except by the writer (Redisson: RedissonReadWriteLockTest testReadLockIsLocked)', async () => {
    const { read, write } = halves(stage().mine);
    await write.using(async () => {
      expect(await modes()).toEqual(['write']);
      await read.using(async () => expect(await modes()).toEqual(['read', 'write']));
      expect(await modes()).toEqual(['write']);
    });
  });

  it('is held by its lease up to the release (Redisson: RedissonReadWriteLockTest testIsHeldByCurrentThread)', async () => {
    for (const half of ['read', 'write'] as const) {
      const lease = await halves(stage().mine)[half].acquire();
      lease.assertHeld();
      await lease.release();
      expect(lease.isHeld).toBe(false);
    }
  });

  it('is not held outside the scope of the lease (Redisson: RedissonReadWriteLockTest testIsHeldByCurrentThreadOtherThread)', async () => {
    await using _ = await halves(stage().mine).write.acquire();
    for (const client of [stage().mine, stage().theirs]) {
      expect(await halves(client).read.tryAcquire()).toBeUndefined();
      expect(await halves(client).write.tryAcquire()).toBeUndefined();
    }
  });

  it('is held until as many leases are released as were acquired (Redisson: RedissonReadWriteLockTest testHoldCount)', async () => {
    for (const half of ['read', 'write'] as const) {
      const lock = halves(stage().mine)[half];
      const first = await lock.acquire();
      const second = await first.run(() => lock.acquire());
      expect(second.holder).toBe(first.holder);
      await first.release();
      expect([second.isHeld, await modes()]).toEqual([true, [half]]);
      await second.release();
      expect(await modes()).toEqual([]);
    }
  });

  it('lets its holder in again (Redisson: RedissonReadWriteLockTest testReentrancy)', async () => {
    const { theirs } = stage();
    const { read, write } = halves(stage().mine);
    await write.using(async () => {
      await using again = await write.tryAcquire();
      await using inside = await read.tryAcquire();
      await using deeper = await inside!.run(() => read.tryAcquire());
      expect([again?.isHeld, inside?.isHeld, deeper?.isHeld]).toEqual([true, true, true]);
      expect(await halves(theirs).write.tryAcquire()).toBeUndefined();
    });
    await using next = await halves(theirs).write.tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is not released by its former holder (Redisson: RedissonReadWriteLockTest testUnlockFail)', async () => {
    const { mine, theirs, key } = stage();
    for (const half of ['read', 'write'] as const) {
      const before = await halves(theirs)[half].acquire();
      await stage().command('DEL', key);
      const lease = await halves(mine)[half].acquire();
      await before.release();
      expect((await mine.readWriteLock(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
      await lease.release();
    }
  });

  it('has many readers at once, and no writer with them (Redisson: RedissonReadWriteLockTest testMultiRead)', async () => {
    const { mine, theirs } = stage();
    const first = await halves(mine).read.acquire();
    const second = await halves(theirs).read.acquire();
    const third = await halves(mine).read.tryAcquire();
    expect(await modes()).toEqual(['read', 'read', 'read']);
    for (const reader of [first, third!, second]) {
      for (const client of [mine, theirs])
        expect(await halves(client).write.tryAcquire()).toBeUndefined();
      await reader.release();
    }
    await using writer = await halves(mine).write.tryAcquire();
    expect(writer?.isHeld).toBe(true);
  });

  it('has one writer, and no other holder with it (Redisson: RedissonReadWriteLockTest testWriteLock)', async () => {
    const { mine, theirs } = stage();
    const writer = await halves(mine).write.acquire();
    expect(await halves(theirs).write.tryAcquire()).toBeUndefined();
    expect(await halves(theirs).read.tryAcquire()).toBeUndefined();
    await writer.release();

    const reader = await halves(theirs).read.tryAcquire();
    expect(await halves(mine).write.tryAcquire()).toBeUndefined();
    await using another = await halves(mine).read.tryAcquire();
    expect([reader?.isHeld, another?.isHeld]).toEqual([true, true]);
    await reader!.release();
  });

  it('stays a writer when it stops reading (Redisson: RedissonReadWriteLockTest testWR)', async () => {
    const { read, write } = halves(stage().mine);
    await write.using(async (writer) => {
      await read.using(async () => {});
      expect(writer.isHeld).toBe(true);
      expect(await modes()).toEqual(['write']);
      expect(await halves(stage().theirs).read.tryAcquire()).toBeUndefined();
    });
    expect(await modes()).toEqual([]);
  });

  it('keeps all others out while a writer reads, and writers after that (Redisson: RedissonReadWriteLockTest testWriteReadReentrancy)', async () => {
    const { theirs } = stage();
    const { read, write } = halves(stage().mine);
    const writer = await write.acquire();
    const reader = await writer.run(() => read.acquire());
    expect(await halves(theirs).read.tryAcquire()).toBeUndefined();

    await writer.release();
    expect([reader.isHeld, await modes()]).toEqual([true, ['read']]);
    await using another = await halves(theirs).read.tryAcquire();
    expect(another?.isHeld).toBe(true);
    expect(await halves(theirs).write.tryAcquire()).toBeUndefined();
    await reader.release();
  });

  it('rejects a reader that wants to write, at once', async () => {
    const { read, write } = halves(stage().mine);
    await read.using(async () => {
      await expect(write.acquire()).rejects.toThrow(LockUpgradeError);
      await expect(write.tryAcquire()).rejects.toThrow(LockUpgradeError);
      expect(await modes()).toEqual(['read']);
    });
  });

  it('frees only the holds of the mode that is unlocked by force (Redisson: RedissonReadWriteLockTest testForceUnlock)', async () => {
    const { mine, theirs, key } = stage();
    const lock = theirs.readWriteLock(key);
    expect([await lock.forceUnlock('read'), await lock.forceUnlock('write')]).toEqual([
      false,
      false,
    ]);

    const writer = await halves(mine).write.acquire();
    expect([await lock.forceUnlock('read'), await modes()]).toEqual([false, ['write']]);
    expect([await lock.forceUnlock('write'), await modes()]).toEqual([true, []]);
    await writer.release();

    const readers = [await halves(mine).read.acquire(), await halves(theirs).read.acquire()];
    expect([await lock.forceUnlock('write'), await modes()]).toEqual([false, ['read', 'read']]);
    expect([await lock.forceUnlock('read'), await modes()]).toEqual([true, []]);
    expect(readers.map(({ isHeld }) => isHeld)).toEqual([true, false]); // the other client learns of it at its next renewal
    await Promise.all(readers.map((reader) => reader.release()));
  });

  it('works for names with a hash tag of their own (Redisson: RedissonReadWriteLockTest testName)', async () => {
    const { mine, key } = stage();
    const lock = mine.readWriteLock(`{${key}}:abc:key`);
    const readers = await Promise.all(Array.from({ length: 10 }, () => lock.readLock().acquire()));
    const holds = readers.map(({ holder }) => `{${key}}:abc:key:${holder}:rwlock_timeout:1`);
    expect(await stage().keys()).toEqual([`{${key}}:abc:key`, ...holds].sort());
    await Promise.all(readers.map((reader) => reader.release()));
    expect(await stage().keys()).toEqual([]);
  });

  it('works for keys on all servers (Redisson: RedissonReadWriteLockTest testInCluster)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
    const visit = (each: string) => {
      const lock = mine.readWriteLock(each);
      return lock.writeLock().using(() =>
        lock.readLock().using(async () => {
          expect(await theirs.readWriteLock(each).readLock().tryAcquire()).toBeUndefined();
        }),
      );
    };
    await Promise.all(keys.map(visit));
    expect(await stage().keys()).toEqual([]);
  });

  it.each([
    ['of one client (Redisson: RedissonReadWriteLockTest testConcurrency_SingleInstance)', 1, 40],
    [
      'of clients that come again and again (Redisson: RedissonReadWriteLockTest testConcurrencyLoop_MultiInstance)',
      4,
      20,
    ],
    ['of many clients (Redisson: RedissonReadWriteLockTest testConcurrency_MultiInstance)', 16, 2],
  ])('disturbs no reader or writer %s', async (_, count, each) => {
    const clients = await Promise.all(Array.from({ length: count }, () => stage().client()));
    const random = seededRandom(count);
    const room = new ReadWriteRoom();
    const visits = clients.flatMap((client) =>
      Array.from({ length: each }, () =>
        random() < 0.5
          ? halves(client).write.using(() => room.write())
          : halves(client).read.using(() => room.read()),
      ),
    );
    await Promise.all(visits);
    expect(room.updates).toBe(room.writes);
    expect(room.disturbances).toBe(0);
    expect(room.mostReaders).toBeGreaterThan(1);
  });

  function halves(client: RedisLockClient) {
    const lock = client.readWriteLock(stage().key);
    return { read: lock.readLock(), write: lock.writeLock() };
  }

  /** The modes in which it is held, by all holders. */
  async function modes(): Promise<string[]> {
    const holders = await stage().mine.readWriteLock(stage().key).holders();
    return holders.map(({ mode }) => mode).sort();
  }
}
