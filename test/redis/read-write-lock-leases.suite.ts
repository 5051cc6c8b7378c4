import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { expectLost } from '../contract/expect-lost.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { startLockUser } from './start-lock-user.js';

/** Far below the default lease, in ms: a client served within it did not wait for the end of a renewed lease. */
const SOON = 3_000;

/** How long each hold lasts, released or not. */
export function readWriteLockLeasesSuite(stage: () => RedisStage): void {
  it("lets a writer in when the longest reader's lease ends (Redisson: RedissonReadWriteLockTest testReadLockExpiration)", async () => {
    const { mine, theirs } = stage();
    const readers = [await read(mine, 300), await read(theirs, 900), await read(mine, 500)];
    await expectGranted(writeLock(theirs), readers, 900);
  });

  it('lets a writer in when overlapping readers have all expired (Redisson: RedissonReadWriteLockTest testReadLockLeaseTimeout)', async () => {
    const { mine, theirs } = stage();
    const first = await read(mine, 500);
    await eventually('half of it is over', () => first.remaining() < 250, { every: 5 });
    const second = await read(theirs, 500);
    await expectGranted(writeLock(mine), [first, second], 500);
  });

  it("lets readers in together when a writer's lease ends (Redisson: RedissonReadWriteLockTest testReadLockLeaseTimeoutDiffThreadsWRR)", async () => {
    const { mine, theirs, key } = stage();
    const writer = await writeLock(mine).acquire({ lease: 600 });
    const begin = performance.now();
    const waiting = [mine, theirs].map((client) => client.readWriteLock(key).readLock().acquire());
    const readers = await Promise.all(waiting);
    expect(performance.now() - begin).toBeLessThan(SOON);
    expectLost(writer);
    await Promise.all([writer, ...readers].map((lease) => lease.release()));
  });

  it('does not end a long reader with a short one (Redisson: RedissonReadWriteLockTest testReadLockLeaseTimeoutDiffThreadsRRW)', async () => {
    const { mine, theirs } = stage();
    const long = await read(mine, 900);
    const short = await read(theirs, 300);
    await short.release();
    expect(await writeLock(theirs).tryAcquire()).toBeUndefined();
    await expectGranted(writeLock(theirs), [long], 900);
  });

  it('lets a writer in at the end of a reader that is not released, though another had a longer lease', async () => {
    const { mine, theirs } = stage();
    const long = await mine.readWriteLock(stage().key).readLock().acquire();
    const short = await read(theirs, 1_200);
    const { lease: waiting } = await stage().queue(theirs, writeLock(theirs));
    await stage().listening(stage().names.readWriteChannel);
    await long.release(); // from now on the writer waits only for the short one
    const begin = performance.now();
    const writer = await waiting;
    expect(performance.now() - begin).toBeLessThan(SOON);
    await Promise.all([writer, short].map((lease) => lease.release()));
  });

  it('lets others in at the end of a writer that is not released, though it read with a longer lease', async () => {
    const { mine, theirs, key } = stage();
    const writer = await writeLock(mine).acquire({ lease: 1_200 });
    const reader = await writer.run(() => mine.readWriteLock(key).readLock().acquire());
    const { lease: waiting } = await stage().queue(theirs, writeLock(theirs));
    await stage().listening(stage().names.readWriteChannel);
    await reader.release();
    const begin = performance.now();
    const next = await waiting;
    expectLost(writer);
    expect(performance.now() - begin).toBeLessThan(SOON);
    await Promise.all([next, writer].map((lease) => lease.release()));
  });

  it('keeps others out while a writer reads on after the end of its write lease', async () => {
    const { mine, theirs, key } = stage();
    const writer = await writeLock(mine).acquire({ lease: 300 });
    const reader = await writer.run(() => mine.readWriteLock(key).readLock().acquire());
    await eventually('the signal of the writer aborts', () => writer.signal.aborted);
    const { lease: waiting } = await stage().queue(theirs, theirs.readWriteLock(key).readLock());
    expect(reader.isHeld).toBe(true);
    await reader.release();
    await writer.release();
    await (await waiting).release();
  });

  it('keeps 50 readers for as long as they read (Redisson: RedissonReadWriteLockTest testReadLockExpirationRenewal)', async () => {
    const watchdogTimeout = 1_200;
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(stage().key);
    const readers = await Promise.all(Array.from({ length: 50 }, () => lock.readLock().acquire()));
    await lasts(3 * watchdogTimeout, async () => {
      expect(await stage().keys()).toHaveLength(51); // the lock, and a key for each
      expect(readers.every(({ isHeld }) => isHeld)).toBe(true);
    });
    await Promise.all(readers.map((reader) => reader.release()));
    expect(await stage().keys()).toEqual([]);
  });

  it('keeps a writer, a writer that reads, and the reader that is left (Redisson: RedissonReadWriteLockTest testReadWriteTTL)', async () => {
    const watchdogTimeout = 1_200;
    const { key } = stage();
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(key);
    const writer = await lock.writeLock().acquire();
    const itLives = async () => expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
    await lasts(2 * watchdogTimeout, itLives);

    const reader = await writer.run(() => lock.readLock().acquire());
    await lasts(2 * watchdogTimeout, itLives);
    expect([writer.isHeld, reader.isHeld]).toEqual([true, true]);

    await writer.release();
    await lasts(2 * watchdogTimeout, itLives);
    expect(reader.isHeld).toBe(true);
    await reader.release();
  });

  it('keeps others out when a writer re-enters, whatever lease it specifies (Redisson: RedissonReadWriteLockTest testWriteLockExpiration)', async () => {
    const watchdogTimeout = 1_200;
    const { mine, theirs, key } = stage();
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(key).writeLock();
    const writer = await lock.acquire();
    const again = await writer.run(() => lock.acquire({ lease: 100 }));
    await lasts(2 * watchdogTimeout, async () => {
      expect(await writeLock(mine).tryAcquire()).toBeUndefined();
      expect(await theirs.readWriteLock(key).readLock().tryAcquire()).toBeUndefined();
    });
    expect([writer.isHeld, again.isHeld]).toEqual([true, true]);
    await Promise.all([writer, again].map((lease) => lease.release()));
  });

  it('notifies a reader of the end of its lease, after which its release does no harm (Redisson: RedissonReadWriteLockTest testExpireRead)', async () => {
    const { mine, theirs } = stage();
    const reader = await read(mine, 300);
    const writer = await writeLock(theirs).acquire();
    expectLost(reader);
    await reader.release();
    expect(await writeLock(mine).tryAcquire()).toBeUndefined();
    await writer.release();
  });

  it('notifies a writer of the end of its lease, after which its release does no harm (Redisson: RedissonReadWriteLockTest testExpireWrite)', async () => {
    const { mine, theirs } = stage();
    const before = await writeLock(mine).acquire({ lease: 300 });
    const writer = await writeLock(theirs).acquire();
    expectLost(before);
    await before.release();
    expect(await writeLock(mine).tryAcquire()).toBeUndefined();
    await writer.release();
  });

  it('is free one lease after the process that holds it was killed (Redisson: RedissonReadWriteLockTest testAutoExpire)', async () => {
    const watchdogTimeout = 1_000;
    const holder = await startLockUser(stage(), { kind: 'write', watchdogTimeout });
    const { lease } = await stage().queue(stage().mine, writeLock(stage().mine));
    await holder.stop();
    const begin = performance.now();
    await (await lease).release();
    expect(performance.now() - begin).toBeLessThan(watchdogTimeout + SOON);
  });

  it('does not let a live reader keep the reader of a killed process alive (Redisson: RedissonReadWriteLockTest testMultiInstanceReadLockZombieCleanup)', async () => {
    const { mine, theirs, key } = stage();
    const killed = await startLockUser(stage(), { kind: 'read', watchdogTimeout: 900 });
    const reader = await mine.readWriteLock(key).readLock().acquire();
    const { lease: waiting } = await stage().queue(theirs, writeLock(theirs));
    await stage().listening(stage().names.readWriteChannel);
    await killed.stop();
    const hold = stage().names.readHold(reader.holder, 1);
    await eventually('its hold is over', async () => {
      const holds = await stage().keys(':rwlock_timeout:');
      return holds.length === 1 && holds[0] === hold;
    });

    const begin = performance.now();
    await reader.release();
    const writer = await waiting;
    expect(performance.now() - begin).toBeLessThan(SOON);
    await writer.release();
  });

  function writeLock(client: RedisLockClient) {
    return client.readWriteLock(stage().key).writeLock();
  }

  function read(client: RedisLockClient, lease: number): Promise<RedisLease> {
    return client.readWriteLock(stage().key).readLock().acquire({ lease });
  }

  /** Expects a grant when all those leases are over, and soon after the last one, which had at most that many ms. */
  async function expectGranted(
    lock: ReturnType<typeof writeLock>,
    before: readonly RedisLease[],
    longest: number,
  ): Promise<void> {
    const begin = performance.now();
    const lease = await lock.acquire();
    before.forEach(expectLost);
    expect(performance.now() - begin).toBeLessThan(longest + SOON);
    await Promise.all([lease, ...before].map((each) => each.release()));
  }

  /** Looks repeatedly for that many ms. */
  async function lasts(ms: number, look: () => Promise<void>): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end;) {
      await look();
      await delay(20);
    }
  }
}
