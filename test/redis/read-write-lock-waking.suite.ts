import { expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** Far below the leases of 30 s that they would sleep over, in ms: a client served within it was woken. */
const AT_ONCE = 3_000;

/** A waiter is woken when there is a reason. */
export function readWriteLockWakingSuite(stage: () => RedisStage): void {
  it('wakes 20 readers at once when the writer releases (Redisson: RedissonReadWriteLockTest testWriteRead)', async () => {
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

  it('wakes a waiter when it is unlocked by force', async () => {
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

  it('leaves nothing behind of a waiter that gives up', async () => {
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
