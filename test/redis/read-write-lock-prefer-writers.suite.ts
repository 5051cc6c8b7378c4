import { expect, it } from '@jest/globals';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { startLockUser } from './start-lock-user.js';

/** Far below the leases of 30 s that they would sleep over, in ms: a client served within it was woken. */
const AT_ONCE = 3_000;

/** A waiting writer precedes later readers, among clients that ask for it. */
export function preferWritersSuite(stage: () => RedisStage): void {
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

  it('keeps later readers out until the writer has had its turn', async () => {
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
          await using again = await halves(mine).read.tryAcquire();
          expect(again?.isHeld).toBe(true);
        }),
      ),
    );
    await (await waiting).release();
  });

  it('lets readers in at once when the writer gives up', async () => {
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
