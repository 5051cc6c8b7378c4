import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Cluster, Redis } from 'ioredis';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { expectLost } from '../contract/backends/leases.js';
import { eventually } from '../support/time.js';
import { commandCalls, type OnRedis, startLockUser } from './support/redis-stage.js';

const STRANGER = '00000000-0000-0000-0000-000000000000:1';
/** More holds than any client has. */
const ABSURD = 100_000;
/** In ms. */
const REST = 60_000;
/** By how much the clocks may differ in a test, in ms. */
const DRIFT = 100;

/** A foreign hash: what it claims about the holds of others costs the server nothing. */
export function readWriteLockForeignNumbersSuite({ it, stage }: OnRedis): void {
  it('does not look for as many keys as a number claims when a reader leaves', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, 'mode', 'read', STRANGER, ABSURD);
    await stage().command('PEXPIRE', key, REST);
    const lease = await mine.readWriteLock(key).readLock().acquire();
    await stage().command('CONFIG', 'RESETSTAT');
    await lease.release();
    expect(await commandCalls(stage(), 'pttl')).toBeLessThan(20);
    expect(await stage().fields(key)).toEqual({ mode: 'read', [STRANGER]: String(ABSURD) });
    const left = Number(await stage().command('PTTL', key));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(REST);
    await stage().command('DEL', key);
  });

  it('does not look for as many keys as a number claims when the writer leaves', async () => {
    const { mine, key } = stage();
    const lease = await mine.readWriteLock(key).writeLock().acquire();
    await stage().command('HSET', key, STRANGER, ABSURD);
    await stage().command('CONFIG', 'RESETSTAT');
    await lease.release();
    expect(await commandCalls(stage(), 'pttl')).toBeLessThan(20);
    expect(await stage().fields(key)).toEqual({ mode: 'read', [STRANGER]: String(ABSURD) });
    expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
    await stage().command('DEL', key);
  });

  it('looks for the keys of a reader that has re-entered again and again', async () => {
    const { mine, names, key } = stage();
    const lease = await mine.readWriteLock(key).readLock().acquire({ lease: 5_000 });
    await stage().command('HSET', key, STRANGER, 500);
    await stage().command('SET', names.readHold(STRANGER, 500), 1, 'PX', REST);
    await lease.release();
    expect(await stage().command('PTTL', key)).toBeGreaterThan(REST - 30_000);
    await stage().command('DEL', key, names.readHold(STRANGER, 500));
  });
}

/** What it costs the server that there are many readers. */
export function readWriteLockManyReadersSuite({ it, stage }: OnRedis): void {
  const READERS = 2_000;

  it('looks at few holds when one of many readers leaves, in whatever order they do', async () => {
    const patient = await stage().client({ watchdogTimeout: 600_000 }); // renewals would be counted too
    const readers = await readersOf(patient, READERS);
    await stage().command('CONFIG', 'RESETSTAT');
    const last = readers.shift()!;
    await release(readers.splice(-500).reverse());
    await release(readers);
    expect(await commandCalls(stage(), 'pttl')).toBeLessThan(10 * READERS);
    expect(await commandCalls(stage(), 'hgetall')).toBe(0);
    await last.release();
    expect(await stage().keys()).toEqual([]);
  });

  it('still knows all readers when the server pauses between the commands of a script', async () => {
    const slow = await stage().client({ client: pausing(stage().connection()) });
    const begun = performance.now();
    const lock = slow.readWriteLock(stage().key).readLock();
    await stage().command('CONFIG', 'RESETSTAT');
    const [first, second, third, last] = [
      await lock.acquire({ lease: 10_000 }),
      await lock.acquire({ lease: 40_000 }),
      await lock.acquire({ lease: 20_000 }),
      await lock.acquire(),
    ];
    await third.extend(50_000);
    for (const reader of [third, second]) await reader.release();
    expect(await commandCalls(stage(), 'hgetall')).toBe(0);
    await expectLeft(30_000, begun);
    for (const reader of [first, last]) await reader.release();
    expect(await stage().keys()).toEqual([]);
  });

  it('ends with the longest hold that is left, whatever the others were', async () => {
    const { mine, theirs, key } = stage();
    const leases = [50_000, 20_000, 40_000, 10_000, 30_000];
    const begun = performance.now();
    await stage().command('CONFIG', 'RESETSTAT');
    const readers = await Promise.all(
      leases.map((lease, i) =>
        (i % 2 ? mine : theirs).readWriteLock(key).readLock().acquire({ lease }),
      ),
    );
    for (const [place, left] of [
      [0, 40_000],
      [1, 40_000],
      [2, 30_000],
      [4, 10_000],
    ] as const) {
      await readers[place]!.release();
      await expectLeft(left, begun);
    }
    const extended = performance.now();
    await readers[3]!.extend(25_000);
    const another = await mine.readWriteLock(key).readLock().acquire({ lease: 60_000 });
    await another.release();
    await expectLeft(25_000, extended);
    expect(await commandCalls(stage(), 'hgetall')).toBe(0);
    await readers[3]!.release();
    expect(await stage().keys()).toEqual([]);
  });

  it('removes readers that have expired, and ends with those that live', async () => {
    const { mine, key } = stage();
    const lock = mine.readWriteLock(key).readLock();
    const dead = await Promise.all(Array.from({ length: 20 }, () => lock.acquire({ lease: 300 })));
    const begun = performance.now();
    const [living, leaving] = [await lock.acquire({ lease: 20_000 }), await lock.acquire()];
    await eventually('they have expired', () => dead.every(({ isHeld }) => !isHeld));
    await eventually('the server knows', async () => (await holdKeys()).length === 2);
    await leaving.release();
    expect(Object.keys(await stage().fields(key))).toEqual(['mode', living.holder]);
    await expectLeft(20_000, begun);
    await living.release();
    await Promise.all(dead.map((lease) => lease.release()));
    expect(await stage().keys()).toEqual([]);
  });

  it('lives as long as the hold of a reader that is not known here', async () => {
    const { mine, names, key } = stage();
    const [long, short] = [await reader(40_000), await reader(5_000)];
    const added = performance.now();
    await addStranger(names.readHold(STRANGER, 1));
    await long.release();
    await expectLeft(REST, added);
    await short.release();
    await expectLeft(REST, added);
    await stage().command('DEL', key, names.readHold(STRANGER, 1));

    async function reader(lease: number) {
      return await mine.readWriteLock(key).readLock().acquire({ lease });
    }
  });

  it('lives as long as the hold of a stranger that came after all were removed by force', async () => {
    const { mine, names, key } = stage();
    const lock = mine.readWriteLock(key).readLock();
    const removed = await lock.acquire({ lease: 10_000 });
    await stage().command('DEL', key); // as Redisson does it
    const added = performance.now();
    await addStranger(names.readHold(STRANGER, 1));
    const [stays, leaves] = [await lock.acquire({ lease: 5_000 }), await lock.acquire()];
    await leaves.release();
    await expectLeft(REST, added);
    await stays.release();
    await removed.release();
    await expectLeft(REST, added);
    await stage().command('DEL', key, names.readHold(STRANGER, 1));
  });

  it('still knows all readers when a writer that reads too has become one of them', async () => {
    const { mine, key } = stage();
    const { write, read: inside } = await new Promise<{ write: RedisLease; read: RedisLease }>(
      (resolve, reject) => {
        const lock = mine.readWriteLock(key);
        const enter = async () => {
          const lease = await lock.writeLock().acquire();
          await lease.run(async () =>
            resolve({ write: lease, read: await lock.readLock().acquire() }),
          );
        };
        enter().catch(reject);
      },
    );
    await write.release();
    const others = await readersOf(mine, 50);
    await stage().command('CONFIG', 'RESETSTAT');
    await release(others);
    expect(await commandCalls(stage(), 'hgetall')).toBe(0);
    await inside.release();
    expect(await stage().keys()).toEqual([]);
  });

  async function readersOf(client: RedisLockClient, count: number): Promise<RedisLease[]> {
    const lock = client.readWriteLock(stage().key).readLock();
    return await Promise.all(Array.from({ length: count }, () => lock.acquire()));
  }

  async function release(readers: readonly RedisLease[]): Promise<void> {
    for (const reader of readers) await reader.release();
  }

  const holdKeys = () => stage().keys(':rwlock_timeout:');

  /** A reader of Redisson, with a lease of REST. */
  async function addStranger(hold: string): Promise<void> {
    const { key } = stage();
    await stage().command('HSET', key, 'mode', 'read', STRANGER, 1);
    await stage().command('SET', hold, 1, 'PX', REST);
    await stage().command('PEXPIRE', key, REST);
  }

  /** @param since time at which the lease of that length had not begun yet */
  async function expectLeft(ms: number, since: number): Promise<void> {
    const left = Number(await stage().command('PTTL', stage().key));
    expect(left).toBeLessThanOrEqual(ms);
    expect(left).toBeGreaterThan(ms - (performance.now() - since) - DRIFT);
  }
}

/** Sends scripts that stop for up to 40 ms before each of their commands, as on a machine that has too much to do. */
function pausing(redis: Redis | Cluster): Redis | Cluster {
  const pauses = `
    local server = redis
    local function ms()
      local time = server.call('time')
      return time[1] * 1000 + time[2] / 1000
    end
    local function after(call)
      return function(...)
        local begun, pause, loops = ms(), math.random(0, 40), 0
        while ms() - begun < pause and loops < 600 do -- the time of a script stands still since 7.2
          for _ = 1, 10000 do end
          loops = loops + 1
        end
        return call(...)
      end
    end
    local redis = { call = after(server.call), pcall = after(server.pcall), error_reply = server.error_reply }
  `;
  const call = redis.call.bind(redis) as (command: string, ...args: unknown[]) => Promise<unknown>;
  return Object.assign(redis, {
    call: (command: string, ...given: unknown[]) => {
      const [script, ...args] = given.flat();
      if (command === 'evalsha') return call(command, 'f'.repeat(40), 0); // which no server knows
      return call(command, ...(command === 'eval' ? [pauses + String(script), ...args] : given));
    },
  });
}

/** Far below the default lease, in ms: a client served within it did not wait for the end of a renewed lease. */
const SOON = 3_000;

/** How long each hold lasts, released or not. */
export function readWriteLockLeasesSuite({ it, test, stage }: OnRedis): void {
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

  it.each([
    ['reader', 'writer'],
    ['writer', 'reader'],
    ['writer', 'writer'],
  ] as const)('ends with the lease of a %s that was shortened, for a %s', async (mode, next) => {
    const { mine, theirs, key } = stage();
    const lock = (client: RedisLockClient, of: 'reader' | 'writer') =>
      of === 'writer' ? writeLock(client) : client.readWriteLock(key).readLock();
    const lease = await lock(mine, mode).acquire({ lease: 600_000 });
    await lease.extend(300);
    await using granted = await lock(theirs, next).acquire({ wait: 5_000 });
    expect([lease.isHeld, granted.isHeld]).toEqual([false, true]);
    await lease.release();
  });

  it('ends with the longest hold when one is shortened', async () => {
    const { mine, theirs, key } = stage();
    const readLock = mine.readWriteLock(key).readLock();
    const [first, second] = [await read(mine, 600_000), await read(theirs, 400_000)];
    await first.extend(500_000);
    await expectToEndIn(500_000);
    await first.extend(300_000);
    await expectToEndIn(400_000);
    await second.extend(200_000);
    await expectToEndIn(300_000);
    await Promise.all([first, second].map((lease) => lease.release()));

    const writer = await writeLock(mine).acquire({ lease: 600_000 });
    const inside = await writer.run(() => readLock.acquire({ lease: 400_000 }));
    await writer.extend(200_000);
    await expectToEndIn(400_000);
    await inside.extend(100_000);
    await expectToEndIn(200_000);
    await Promise.all([inside, writer].map((lease) => lease.release()));
  });

  it('does not end before readers of Redisson when a hold is shortened', async () => {
    const { mine, names, key } = stage();
    const reader = await read(mine, 600_000);
    await stage().command('HSET', key, STRANGER, 2);
    await stage().command('SET', names.readHold(STRANGER, 1), 1, 'PX', 200_000);
    await stage().command('SET', names.readHold(STRANGER, 2), 1, 'PX', 400_000);
    await reader.extend(100_000);
    await expectToEndIn(400_000);
    await reader.extend(500_000);
    await expectToEndIn(500_000);
    const holds = [1, 2].map((n) => names.readHold(STRANGER, n));
    await stage().command('HDEL', key, STRANGER);
    await stage().command('DEL', ...holds);
    await reader.release();
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

  test('keeps 50 readers for as long as they read (Redisson: RedissonReadWriteLockTest testReadLockExpirationRenewal)', async () => {
    const watchdogTimeout = 1_000;
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(stage().key);
    const readers = await Promise.all(Array.from({ length: 50 }, () => lock.readLock().acquire()));
    await lasts(1.5 * watchdogTimeout, async () => {
      expect(await stage().keys()).toHaveLength(52); // the lock, its readers, and a key for each
      expect(readers.every(({ isHeld }) => isHeld)).toBe(true);
    });
    await Promise.all(readers.map((reader) => reader.release()));
    expect(await stage().keys()).toEqual([]);
  });

  it('keeps a writer, a writer that reads, and the reader that is left (Redisson: RedissonReadWriteLockTest testReadWriteTTL)', async () => {
    const watchdogTimeout = 1_000;
    const { key } = stage();
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(key);
    const writer = await lock.writeLock().acquire();
    const itLives = async () => expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
    await lasts(1.5 * watchdogTimeout, itLives);

    const reader = await writer.run(() => lock.readLock().acquire());
    await lasts(1.5 * watchdogTimeout, itLives);
    expect([writer.isHeld, reader.isHeld]).toEqual([true, true]);

    await writer.release();
    await lasts(1.5 * watchdogTimeout, itLives);
    expect(reader.isHeld).toBe(true);
    await reader.release();
  });

  it('keeps others out when a writer re-enters, whatever lease it specifies (Redisson: RedissonReadWriteLockTest testWriteLockExpiration)', async () => {
    const watchdogTimeout = 1_000;
    const { mine, theirs, key } = stage();
    const client = await stage().client({ watchdogTimeout });
    const lock = client.readWriteLock(key).writeLock();
    const writer = await lock.acquire();
    const again = await writer.run(() => lock.acquire({ lease: 100 }));
    await lasts(1.5 * watchdogTimeout, async () => {
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

  async function expectToEndIn(ms: number): Promise<void> {
    const left = Number(await stage().command('PTTL', stage().key));
    expect(left).toBeLessThanOrEqual(ms);
    expect(left).toBeGreaterThan(ms - 60_000);
  }
}

/** A lease that is not renewed, in ms. */
const LEASE = 60_000;

/** The keys on the server, in Redisson's layout. */
export function readWriteLockLayoutSuite({ it, test, stage }: OnRedis): void {
  test('keeps a reader as a field, with a key that lives as long as its lease', async () => {
    const { mine, theirs, key, names } = stage();
    const long = await mine.readWriteLock(key).readLock().acquire({ lease: LEASE });
    const short = await theirs
      .readWriteLock(key)
      .readLock()
      .acquire({ lease: LEASE / 2 });
    expect(await stage().fields(key)).toEqual({
      mode: 'read',
      [long.holder]: '1',
      [short.holder]: '1',
    });
    const readersKey = `interlock_readers:{${key}}`;
    expect(await stage().keys()).toEqual([key, readersKey, hold(long), hold(short)].sort());
    await expectLife(hold(long), LEASE);
    await expectLife(hold(short), LEASE / 2);
    await expectLife(key, LEASE); // the life of the longest lease

    await long.release();
    expect(await stage().fields(key)).toEqual({ mode: 'read', [short.holder]: '1' });
    expect(await stage().keys()).toEqual([key, readersKey, hold(short)].sort());
    await expectLife(key, LEASE / 2);
    await short.release();
    expect(await stage().keys()).toEqual([]);
    expect(names.readHold(short.holder, 1)).toBe(hold(short));
  });

  test('keeps a writer as a field that marks it as writer, beside its field as a reader', async () => {
    const { mine, key } = stage();
    const lock = mine.readWriteLock(key);
    const writer = await lock.writeLock().acquire({ lease: LEASE });
    expect(await stage().fields(key)).toEqual({ mode: 'write', [`${writer.holder}:write`]: '1' });
    await expectLife(key, LEASE);

    const reader = await writer.run(() => lock.readLock().acquire({ lease: LEASE / 2 }));
    expect(await stage().fields(key)).toEqual({
      mode: 'write',
      [`${writer.holder}:write`]: '1',
      [reader.holder]: '1',
    });
    await expectLife(key, LEASE);

    await writer.release();
    expect(await stage().fields(key)).toEqual({ mode: 'read', [reader.holder]: '1' });
    await expectLife(key, LEASE / 2);
    await reader.release();
  });

  test('notifies waiters on the channel that Redisson uses for them', async () => {
    const { mine, names, key } = stage();
    const lock = mine.readWriteLock(key);
    const log = await stage().log();
    await lock.readLock().using(() => {}, { lease: 500 });
    await lock.writeLock().using(() => {});
    const writer = await lock.writeLock().acquire();
    const reader = await writer.run(() => lock.readLock().acquire());
    await writer.release();
    await reader.release();
    const publish = `${stage().publish} ${names.readWriteChannel}`;
    expect(await log.published(key)).toEqual([
      `${publish} 0`, // the last reader
      ...[`${publish} 1`, `${publish} 0`], // the writer: for waiters that sleep, and for those that are about to
      ...[`${publish} 1`, `${publish} 0`], // the writer, which reads on
      `${publish} 0`,
    ]);
  });

  it('does not end the holds of a reader of Redisson, of which there may be several', async () => {
    const { mine, theirs, names, key } = stage();
    const ours = await mine
      .readWriteLock(key)
      .readLock()
      .acquire({ lease: 2 * LEASE });
    await stage().command('HSET', key, 'redisson:1', 2);
    await stage().command('SET', names.readHold('redisson:1', 1), 1, 'PX', LEASE / 2);
    await stage().command('SET', names.readHold('redisson:1', 2), 1, 'PX', LEASE);
    await ours.release();

    expect(await stage().fields(key)).toEqual({ mode: 'read', 'redisson:1': '2' });
    await expectLife(key, LEASE);
    expect(await theirs.readWriteLock(key).writeLock().tryAcquire()).toBeUndefined();
    await stage().command('DEL', key, ...[1, 2].map((n) => names.readHold('redisson:1', n)));
  });

  it('leaves a writer of Redisson alone', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, 'mode', 'write', 'redisson:1:write', 1);
    await stage().command('PEXPIRE', key, 800);
    const lock = mine.readWriteLock(key);
    expect(await lock.holders()).toEqual([{ id: 'redisson:1', mode: 'write' }]);
    expect(await lock.readLock().tryAcquire()).toBeUndefined();
    const begin = performance.now();
    const readers = [lock.readLock().acquire(), lock.readLock().acquire()];
    for (const reader of await Promise.all(readers)) await reader.release();
    expect(performance.now() - begin).toBeLessThan(3_000);
  });

  it('does not add a lease up when the writer enters again', async () => {
    const client = await stage().client({ watchdogTimeout: 10_000 });
    const write = client.readWriteLock(stage().key).writeLock();
    await write.using(() =>
      write.using(() =>
        write.using(async () => {
          expect(await ttl(stage().key)).toBeLessThanOrEqual(10_000);
        }),
      ),
    );
    expect(await stage().keys()).toEqual([]);
  });

  function hold({ holder }: RedisLease): string {
    return `{${stage().key}}:${holder}:rwlock_timeout:1`;
  }

  /** Expects a lifetime that was set to that value recently. */
  async function expectLife(key: string, ms: number): Promise<void> {
    const left = await ttl(key);
    expect(left).toBeLessThanOrEqual(ms);
    expect(left).toBeGreaterThan(ms - 5_000);
  }

  function ttl(key: string): Promise<number> {
    return stage().command('PTTL', key) as Promise<number>;
  }
}
