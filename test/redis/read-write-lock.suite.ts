import { expect } from '@jest/globals';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis, startLockUser } from './support/redis-stage.js';

/** Far below the leases of 30 s that they would sleep over, in ms: a client served within it was woken. */
const AT_ONCE = 3_000;

/** A waiter is woken when there is a reason. */
export function readWriteLockWakingSuite({ it, test, stage }: OnRedis): void {
  test('wakes 20 readers at once when the writer releases (Redisson: RedissonReadWriteLockTest testWriteRead)', async () => {
    const { mine, theirs } = stage();
    const writer = await halves(mine).write.acquire();
    const waiting = Array.from({ length: 20 }, (_, n) =>
      halves(n % 2 === 0 ? mine : theirs).read.acquire(),
    );
    await stage().listening(stage().names.readWriteChannel, 2);
    const readers = await atOnce(() => writer.release(), Promise.all(waiting));
    expect(await stage().mine.readWriteLock(stage().key).holders()).toHaveLength(20);
    await Promise.all(readers.map((reader) => reader.release()));
  });

  it('wakes readers when the writer goes on as a reader', async () => {
    const { mine, theirs } = stage();
    const writer = await halves(mine).write.acquire();
    const reader = await writer.run(() => halves(mine).read.acquire());
    const { lease: waiting } = await asleep(theirs, 'read');
    const another = await atOnce(() => writer.release(), waiting);
    expect([reader.isHeld, another.isHeld]).toEqual([true, true]);
    await Promise.all([reader, another].map((lease) => lease.release()));
  });

  it('wakes a writer when the last reader releases, and not before', async () => {
    const { mine, theirs } = stage();
    const [first, last] = [await halves(mine).read.acquire(), await halves(mine).read.acquire()];
    const { lease: waiting } = await asleep(theirs, 'write');
    await first.release();
    expect(await halves(theirs).write.tryAcquire()).toBeUndefined();
    const writer = await atOnce(() => last.release(), waiting);
    await writer.release();
  });

  test('wakes a waiter when it is unlocked by force', async () => {
    const { mine, theirs, key } = stage();
    const reader = await halves(mine).read.acquire();
    const { lease: writing } = await asleep(theirs, 'write');
    const writer = await atOnce(() => mine.readWriteLock(key).forceUnlock('read'), writing);
    const { lease: reading } = await asleep(mine, 'read');
    const next = await atOnce(() => theirs.readWriteLock(key).forceUnlock('write'), reading);
    expect([reader.isHeld, writer.isHeld, next.isHeld]).toEqual([false, false, true]);
    await Promise.all([reader, writer, next].map((lease) => lease.release()));
  });

  it('notifies holders of another client that it was unlocked by force, at their next renewal', async () => {
    const { mine, key } = stage();
    const client = await stage().client({ watchdogTimeout: 600 });
    for (const half of ['read', 'write'] as const) {
      const lease = await halves(client)[half].acquire();
      expect(await mine.readWriteLock(key).forceUnlock(half)).toBe(true);
      await using _ = await halves(mine)[half].acquire(); // the holder is not mistaken for this one
      await eventually('its signal aborts', () => lease.signal.aborted);
      await lease.release();
    }
  });

  test('leaves nothing behind of a waiter that gives up', async () => {
    const { mine, theirs } = stage();
    const writer = await halves(mine).write.acquire();
    const before = await stage().keys();
    const stop = new AbortController();
    const options = { signal: stop.signal };
    const waiting = Object.values(halves(theirs)).map((half) => half.acquire(options));
    await stage().listening(stage().names.readWriteChannel);
    stop.abort();
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    await stage().listening(stage().names.readWriteChannel, 0);
    expect(await stage().keys()).toEqual(before);
    await writer.release();
  });

  function halves(client: RedisLockClient) {
    const lock = client.readWriteLock(stage().key);
    return { read: lock.readLock(), write: lock.writeLock() };
  }

  /** Has that client wait for it; resolves once it would receive a message, with the pending lease. */
  async function asleep(client: RedisLockClient, half: 'read' | 'write') {
    const waiting = await stage().queue(client, halves(client)[half]);
    await stage().listening(stage().names.readWriteChannel);
    return waiting;
  }

  async function atOnce<T>(free: () => Promise<unknown>, served: Promise<T>): Promise<T> {
    const begin = performance.now();
    await free();
    const result = await served;
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    return result;
  }
}

/** A waiting writer precedes later readers, among clients that ask for it. */
export function preferWritersSuite({ it, test, stage }: OnRedis): void {
  it('lets readers pass a waiting writer without the option', async () => {
    const { mine, theirs, key } = stage();
    const reader = await halves(mine).read.acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.readWriteLock(key).writeLock());
    await using another = await halves(mine).read.tryAcquire();
    expect(another?.isHeld).toBe(true);
    await another!.release();
    await reader.release();
    await (await waiting).release();
  });

  test('keeps later readers out until the writer has had its turn', async () => {
    const { mine, theirs } = stage();
    const reader = await halves(mine).read.acquire();
    const { lease: writing } = await stage().queue(theirs, halves(theirs).write);
    expect(await halves(mine).read.tryAcquire()).toBeUndefined();
    const { lease: reading } = await stage().queue(mine, halves(mine).read);

    await reader.release();
    const writer = await writing;
    expect(await halves(mine).read.tryAcquire()).toBeUndefined();
    const begin = performance.now();
    await writer.release();
    await (await reading).release();
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    expect(await stage().keys()).toEqual([]);
  });

  it('lets a writer in although readers overlap all the time', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => stage().client()));
    const { theirs } = stage();
    let isOver = false;
    const readOn = async (client: RedisLockClient) => {
      for (let held = await halves(client).read.acquire(); ;) {
        if (isOver) return held.release();
        const next = halves(client).read.acquire();
        await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 5))]);
        await held.release();
        held = await next;
      }
    };
    const readers = clients.map(readOn);
    const begin = performance.now();
    for (let n = 0; n < 3; n++) await halves(theirs).write.using(() => {});
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    isOver = true;
    await Promise.all(readers);
  });

  it('lets in a client that is already inside: the writer that reads, the reader that re-enters', async () => {
    const { mine, theirs } = stage();
    const writer = await halves(mine).write.acquire();
    const { lease: waiting } = await stage().queue(theirs, halves(theirs).write);
    await writer.run(() =>
      halves(mine).read.using(() =>
        halves(mine).read.using(async () => {
          await writer.release();
          await isGranted(halves(mine).read.tryAcquire());
        }),
      ),
    );
    await (await waiting).release();
  });

  test('lets readers in at once when the writer gives up', async () => {
    const { mine, theirs } = stage();
    const stop = new AbortController();
    const options = { signal: stop.signal };
    const first = await halves(mine).read.acquire();
    const { lease: writing } = await stage().queue(theirs, halves(theirs).write, options);
    const { lease: reading } = await stage().queue(mine, halves(mine).read);
    await stage().listening(stage().names.readWriteChannel, 2);
    const begin = performance.now();
    stop.abort();
    await expect(writing).rejects.toThrow(LockAbortedError);
    const second = await reading;
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    await Promise.all([first, second].map((reader) => reader.release()));
  });

  it('lets readers in when the process of the writer was killed, one watchdogTimeout after its last look', async () => {
    const watchdogTimeout = 2_000;
    const client = await stage().client({ watchdogTimeout });
    const first = await halves(client).read.acquire({ lease: 60_000 });
    const writer = await startLockUser(stage(), { kind: 'write', watchdogTimeout });
    const { lease: reading } = await stage().queue(client, halves(client).read);
    const before = await lastLife();
    await eventually('the writer was heard of again', async () => (await lastLife()) > before);
    await writer.stop();
    const begin = performance.now();
    const second = await reading;
    expect(performance.now() - begin).toBeLessThan(1.6 * watchdogTimeout);
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    await Promise.all([first, second].map((reader) => reader.release()));
    await eventually('it is forgotten', async () => (await stage().keys()).length === 0);
  });

  /** Until when the writer that looked last counts. */
  async function lastLife(): Promise<number> {
    const writers = stage().names.queue.replace('redisson_lock_queue', 'interlock_writers');
    const [, life] = (await stage().command('ZRANGE', writers, -1, -1, 'WITHSCORES')) as string[];
    return Number(life);
  }

  function halves(client: RedisLockClient) {
    const lock = client.readWriteLock(stage().key, { preferWriters: true });
    return { read: lock.readLock(), write: lock.writeLock() };
  }
}

/** Which holders may be in together. */
export function readWriteLockSharingSuite({ it, test, stage }: OnRedis): void {
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

  test('frees only the holds of the mode that is unlocked by force (Redisson: RedissonReadWriteLockTest testForceUnlock)', async () => {
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

  it('loses a reader inside of the writer that is unlocked by force, with that writer', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.readWriteLock(key);
    const writer = await halves(mine).write.acquire();
    const reader = await writer.run(() => halves(mine).read.acquire());
    expect([await lock.forceUnlock('write'), await modes()]).toEqual([true, []]);
    expect([writer.isHeld, reader.isHeld, reader.signal.aborted]).toEqual([false, false, true]);
    await using next = (await halves(theirs).write.tryAcquire())!;
    await Promise.all([writer, reader].map((lease) => lease.release()));
    expect([next.isHeld, await modes()]).toEqual([true, ['write']]);
  });

  it('keeps a reader whose writer has released, where writers are unlocked by force', async () => {
    const { mine, key } = stage();
    const writer = await halves(mine).write.acquire();
    await using reader = await writer.run(() => halves(mine).read.acquire());
    await writer.release();
    expect(await mine.readWriteLock(key).forceUnlock('write')).toBe(false);
    expect([reader.isHeld, await modes()]).toEqual([true, ['read']]);
  });

  test('works for names with a hash tag of their own (Redisson: RedissonReadWriteLockTest testName)', async () => {
    const { mine, key } = stage();
    const lock = mine.readWriteLock(`{${key}}:abc:key`);
    const readers = await Promise.all(Array.from({ length: 10 }, () => lock.readLock().acquire()));
    const holds = readers.map(({ holder }) => `{${key}}:abc:key:${holder}:rwlock_timeout:1`);
    const readersKey = `interlock_readers:{${key}}:abc:key`;
    expect(await stage().keys()).toEqual([`{${key}}:abc:key`, readersKey, ...holds].sort());
    await Promise.all(readers.map((reader) => reader.release()));
    expect(await stage().keys()).toEqual([]);
  });

  test('works for keys on all servers (Redisson: RedissonReadWriteLockTest testInCluster)', async () => {
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
