import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
  redisCommands,
  redisScript,
} from '../../../lib/index.js';
import { ConstantBackOff, type RedisLockClient } from '../../../lib/redis/index.js';
import { LockTesting } from '../../../lib/testing/index.js';
import { exportedContractSuite } from '../../contract/exported-contract.suite.js';

describe('What only Redis has, in virtual time', () => {
  let testing: LockTesting;
  let client: RedisLockClient;

  beforeEach(async () => {
    testing = new LockTesting();
    client = await testing.createRedisClient();
    await client.connect();
  });
  afterEach(async () => {
    await testing.resume();
    await client.close();
  });

  it('opens a latch at its last count, and a wait for it ends at its time', async () => {
    const latch = client.countDownLatch('imports');
    expect(await latch.trySetCount(2)).toBe(true);
    const late = expect(latch.await({ wait: 1_000 })).rejects.toBeInstanceOf(LockTimeoutError);
    await testing.advance(1_000);
    await late;
    const opened: number[] = [];
    const open = latch.await().then(() => opened.push(testing.now));
    await latch.countDown();
    await testing.advance(60_000);
    expect([await latch.getCount(), opened]).toEqual([1, []]);
    await latch.countDown();
    await open;
    expect(opened).toEqual([61_000]);
  });

  it('has plain semaphores, whose permits have no owner', async () => {
    const pool = client.plainSemaphore('pool');
    expect(await pool.trySetPermits(1)).toBe(true);
    await pool.acquire();
    expect(await pool.tryAcquire()).toBe(false);
    const next = pool.acquire();
    await testing.advance(3_600_000);
    await pool.release();
    await next;
    expect(await pool.availablePermits()).toBe(0);
  });

  it('has permits with leases and ids, of which the number can be changed', async () => {
    const pool = client.semaphore('pool');
    await pool.setPermits(2);
    const [first, second] = [await pool.acquire({ lease: 5_000 }), await pool.acquire()];
    const third = pool.acquire();
    await testing.advance(0);
    expect(testing.waiting()).toHaveLength(1);
    await pool.addPermits(1);
    const leases = [first, second, await third];
    await testing.advance(5_001);
    expect(leases.map(({ isHeld }) => isHeld)).toEqual([false, true, true]);
    expect(await pool.availablePermits()).toBe(1);
    for (const lease of leases.slice(1)) await lease.release();
    expect([await pool.availablePermits(), await pool.getPermits()]).toEqual([3, 3]);
  });

  it('has spin locks, which ask again after their back-off', async () => {
    const lock = client.spinLock('door', { backOff: new ConstantBackOff(5, () => 0.5) });
    const lost = await lock.acquire({ lease: 1_000 });
    const next = lock.acquire();
    await testing.advance(1_000);
    expect([lost.isHeld, testing.waiting().length]).toEqual([false, 1]); // the server still has it
    await testing.advance(5);
    expect(testing.waiting()).toEqual([]);
    await (await next).release();
  });

  it('extends leases', async () => {
    await using lease = await client.mutex('door').acquire({ lease: 5_000 });
    await testing.advance(4_000);
    await lease.extend(5_000);
    await testing.advance(4_000);
    expect([lease.isHeld, testing.now]).toEqual([true, 8_000]);
    await testing.advance(1_000);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  });

  it('shows who holds a lock, and releases it by force', async () => {
    const lock = client.mutex('door');
    await using lease = await lock.acquire();
    expect([await lock.isLocked(), await lock.holderIds()]).toEqual([true, [expect.any(String)]]);
    expect(await lock.remainTimeToLive()).toBe(30_000);
    const next = lock.acquire();
    expect(await lock.forceUnlock()).toBe(true);
    await using second = await next;
    expect(second.isHeld).toBe(true);
    await testing.advance(30_000); // the first learns of it by its renewal
    expect([lease.isHeld, second.isHeld]).toEqual([false, true]);
  });

  it('counts fencing tokens on, and guards writes by them', async () => {
    const lock = client.mutex('order:7', { fenced: true });
    const stale = await lock.acquire();
    const write = redisCommands([
      ['hset', 'order:7:lines', 'state', 'paid'],
      ['hget', 'order:7:lines', 'state'],
    ]);
    expect(await stale.guard(write)).toEqual([1, 'paid']);
    expect(await stale.guard(redisScript('return #ARGV', [], [1, 'a']))).toBe(2);
    const token = await stale.fencingToken();
    await testing.loseLease('order:7');
    await expect(stale.guard(write)).rejects.toBeInstanceOf(LockLostError);
    await using later = await lock.acquire();
    expect((await later.fencingToken()) > token).toBe(true);
  });

  it.each([
    ['append', 'x'],
    ['decr'],
    ['decrby', 2],
    ['del'],
    ['exists'],
    ['expire', 60],
    ['get'],
    ['getdel'],
    ['hincrby', 'lines', 2],
    ['hset', 'state', 'paid'],
    ['hsetnx', 'state', 'paid'],
    ['hvals'],
    ['incr'],
    ['incrby', 2],
    ['lpush', 'x'],
    ['pexpireat', 1],
    ['psetex', 60_000, 'x'],
    ['rpush', 'x'],
    ['setex', 60, 'x'],
    ['setnx', 'x'],
    ['ttl'],
    ['type'],
    ['unlink'],
    ['zadd', 1, 'x'],
    ['zpopmin'],
    ['zrank', 'x'],
    ['zremrangebyrank', 0, -1],
  ] as const)('guards a write by `%s`', async (name, ...operands) => {
    await using lease = await client.mutex('order:7').acquire();
    await lease.guard(redisCommands([[name, 'order:7:data', ...operands]]));
  });

  it.each([['sadd', 'x'], ['xlen'], ['pfadd', 'x'], ['incrbyfloat', '0.5']] as const)(
    'says that it cannot guard a write by `%s`',
    async (name, ...operands) => {
      await using lease = await client.mutex('order:7').acquire();
      const write = redisCommands([[name, 'order:7:data', ...operands]]);
      await expect(lease.guard(write)).rejects.toThrow(`'${name}' is not simulated`);
    },
  );

  it('serves the waiters of a fair lock in their order', async () => {
    const lock = client.mutex('door', { fair: true });
    const held = await lock.acquire();
    const served: number[] = [];
    const waits = [1, 2, 3].map((i) => lock.using(async () => void served.push(i)));
    await testing.advance(0);
    await held.release();
    await Promise.all(waits);
    expect(served).toEqual([1, 2, 3]);
  });

  it('forgets a semaphore that is not used when its time to live is over', async () => {
    const other = await testing.createRedisClient('other', {
      semaphoreTimeToLive: 10_000,
      namespace: 'shop',
    });
    await other.connect();
    const pool = other.semaphore('pool', { permits: 2 });
    const seen = other.semaphore('pool');
    await pool.using(async () => {});
    await testing.advance(10_000);
    expect(await seen.getPermits()).toBe(2);
    await testing.advance(1);
    expect(await seen.getPermits()).toBe(0);
    await using lease = await other.mutex('door').acquire();
    expect([lease.isHeld, testing.held('other')]).toMatchObject([true, [{ name: 'shop:door' }]]);
    await other.close();
  });

  it('has lost everything when its server restarts, but goes on', async () => {
    const latch = client.countDownLatch('imports');
    await latch.trySetCount(1);
    const leased = await client.mutex('door').acquire({ lease: 60_000 });
    const open = latch.await();
    await testing.advance(0);
    await testing.expire();
    await open; // none is closed
    expect([leased.isHeld, await latch.getCount(), testing.now]).toEqual([false, 0, 0]);
    await client.mutex('door').using(async (lease) => expect(lease.isHeld).toBe(true));
  });

  it('keeps a lease that is renewed for hours, and a suspended client does not', async () => {
    const other = await testing.createRedisClient('other', { watchdogTimeout: 3_000 });
    await other.connect();
    await using lease = await other.mutex('door').acquire();
    await testing.advance(3_600_000);
    expect(lease.isHeld).toBe(true);
    await testing.suspend('other');
    await testing.advance(2_000);
    expect(lease.isHeld).toBe(true);
    await testing.advance(1_000);
    expect(lease.isHeld).toBe(false);
    await testing.expire('other');
    await other.close();
  });

  it('refuses what the client refuses', () => {
    expect(() => client.semaphore('pool', { permits: 0 })).toThrow(LockOptionsError);
    expect(() => client.validateLease(1)).toThrow(LockOptionsError);
  });
});

/** A client in virtual time that passes at half of the speed of real time at most, until the client is closed. */
async function clientInPassingTime(): Promise<RedisLockClient> {
  const testing = new LockTesting();
  const client = await testing.createRedisClient();
  const pass = async () => {
    while (client.status().state !== 'CLOSED') {
      await delay(10);
      await testing.advance(5);
    }
  };
  void pass();
  return client;
}

exportedContractSuite('a simulated Redis', clientInPassingTime, { isFair: false, isShared: false });
