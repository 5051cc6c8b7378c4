import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisPermitOptions } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis, semaphoreNames } from './support/redis-stage.js';

const FAIR = { fair: true };
/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const AT_ONCE = 3_000;

/** First come, first served, among our clients that ask for it. */
export function permitExpirableSemaphoreFairSuite({ it, test, stage }: OnRedis): void {
  it('wakes as many waiters as can be served when many permits are released at once', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const all = await take(mine, 3);
    const waiting = [];
    for (const client of [theirs, mine, theirs])
      waiting.push((await queue(client, { lease: LONG_LEASE })).lease);
    const begin = performance.now();
    await all.release();
    const leases = await Promise.all(waiting);
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    for (const lease of leases) await lease.release();
  });

  it('can be passed by a client that is not fair', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    const lease = await take(mine, 1);
    const { lease: both } = await queue(theirs, { permits: 2 });
    const passed = await mine.semaphore(key).tryAcquire();
    expect(passed?.isHeld).toBe(true);
    await passed!.release();
    await lease.release();
    await (await both).release();
  });

  it('skips a waiter that was cut off, after its lifetime', async () => {
    const watchdogTimeout = 1_500;
    const { key } = stage();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection, watchdogTimeout });
    const client = await stage().client({ watchdogTimeout });
    await client.semaphore(key).trySetPermits(1);
    const lease = await client.semaphore(key, FAIR).acquire({ lease: LONG_LEASE });
    await queue(dying, { wait: 20_000 });
    const { lease: next } = await queue(client);
    connection.disconnect();
    const begin = performance.now();
    await lease.release();
    await (await next).release();
    expect(performance.now() - begin).toBeLessThan(watchdogTimeout + AT_ONCE);
    await eventually('it is out of the queue', async () => (await waiters()).length === 0);
  });

  it('keeps the place of a client that waits for longer than several lifetimes of a waiter', async () => {
    const { key } = stage();
    const clients = await Promise.all(
      [1, 2, 3].map(() => stage().client({ watchdogTimeout: 1_500 })),
    );
    await clients[0]!.semaphore(key).trySetPermits(1);
    const lease = await clients[0]!.semaphore(key, FAIR).acquire({ lease: LONG_LEASE });
    const served: number[] = [];
    const visits: Promise<unknown>[] = [];
    for (const [n, client] of clients.entries()) {
      const { lease: waiting } = await queue(client);
      visits.push(waiting.then((held) => (served.push(n), held.release())));
    }
    const before = await waiters();
    const begin = performance.now();
    await eventually('two lives are over', () => performance.now() - begin > 3_000);
    expect(await waiters()).toEqual(before);
    await lease.release();
    await Promise.all(visits);
    expect(served).toEqual([0, 1, 2]);
  });

  it('removes a waiter that gives up or is aborted, and wakes the next', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    const one = await take(mine, 1);
    const stop = new AbortController();
    const { lease: inVain } = await queue(theirs, { permits: 2, wait: 300 });
    const { lease: aborted } = await queue(theirs, { permits: 2, signal: stop.signal });
    const { lease: next } = await queue(mine, { lease: LONG_LEASE });
    await expect(inVain).rejects.toBeInstanceOf(LockTimeoutError);
    await eventually('it is out of the queue', async () => (await waiters()).length === 2);
    const begin = performance.now();
    stop.abort();
    await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
    await (await next).release(); // one permit was free all the time
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    await one.release();
    expect(await mine.semaphore(key).availablePermits()).toBe(2);
  });

  test('removes all waiters of a client that closes', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    const lease = await take(mine, 1);
    for (let n = 0; n < 3; n++) await queue(theirs);
    const { lease: next } = await queue(mine);
    await theirs.close();
    expect(await waiters()).toHaveLength(1);
    await lease.release();
    await (await next).release();
  });

  it('is served when a lease that is not released ends', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    const lease = await mine.semaphore(key, FAIR).acquire({ lease: 500 });
    const waiting = [(await queue(theirs)).lease, (await queue(mine)).lease];
    const begin = performance.now();
    for (const next of waiting) await (await next).release();
    expect(performance.now() - begin).toBeLessThan(500 + AT_ONCE);
    await lease.release();
  });

  it('looks by itself for permits released by Redisson, which does not wake our queue', async () => {
    const { mine, theirs, key } = stage();
    await stage().command('SET', key, 0);
    const { lease: first } = await queue(theirs, { lease: LONG_LEASE });
    const { lease: second } = await queue(mine, { lease: LONG_LEASE });
    const begin = performance.now();
    await stage().command('INCRBY', key, 2);
    const leases = await Promise.all([first, second]);
    expect(performance.now() - begin).toBeLessThan(1_000 + AT_ONCE);
    for (const lease of leases) await lease.release();
  });

  test('is a list of the waiters in their order, with the channels that wake them as their names', async () => {
    const { mine, theirs, key } = stage();
    const { queue: list, alive, channel } = semaphoreNames(key);
    await mine.semaphore(key).trySetPermits(1);
    const lease = await take(mine, 1);
    const { lease: waiting } = await queue(theirs, { lease: LONG_LEASE });
    const [waiter = ''] = await waiters();
    expect(waiter).toMatch(/^[0-9a-f]{24}00000001$/);
    await stage().listening(`${channel}:${waiter}`);
    expect(await stage().command('TYPE', alive)).toBe('zset');
    for (const name of [list, alive])
      expect(await stage().command('PTTL', name)).toBeGreaterThan(0);
    const log = await stage().log();
    await lease.release();
    const next = await waiting;
    const { publish } = stage();
    expect(await log.published(key)).toEqual([
      `${publish} ${channel} 1`,
      `${publish} ${channel}:${waiter} 1`,
    ]);
    expect(await stage().command('EXISTS', list, alive)).toBe(0);
    await next.release();
  });

  function queue(client: RedisLockClient, options: RedisPermitOptions = {}) {
    const { key } = stage();
    const acquire = () => client.semaphore(key, FAIR).acquire(options);
    return stage().queue(client, { key, acquire });
  }

  function take(client: RedisLockClient, permits: number) {
    return client.semaphore(stage().key, FAIR).acquire({ permits, lease: LONG_LEASE });
  }

  function waiters(): Promise<string[]> {
    return stage().command('LRANGE', semaphoreNames(stage().key).queue, 0, -1) as Promise<string[]>;
  }
}

/** How many dead waiters one call removes at most. */
const DROPPED_AT_ONCE = 1_000;

const SEED = `
for i = 1, tonumber(ARGV[1]) do
  redis.call('RPUSH', KEYS[1], 'dead:' .. i)
  redis.call('ZADD', KEYS[2], 1, 'dead:' .. i)
end
`;

/** What keeps the queue of the fair semaphore alive, and what is removed from it. */
export function permitExpirableSemaphoreQueueSuite({ it, test, stage }: OnRedis): void {
  it('lives as long as its longest waiter may, whichever waiter comes behind', async () => {
    const { mine, key } = stage();
    const quick = await stage().client({ watchdogTimeout: 600 });
    const { queue: list, alive } = semaphoreNames(key);
    const lease = await onePermit();
    const { lease: first } = await queue(mine);
    const { lease: second } = await queue(quick);
    for (const name of [list, alive])
      expect(await stage().command('PTTL', name)).toBeGreaterThan(15_000);
    await lease.release();
    await (await first).release();
    await (await second).release();
  });

  it('does not wait forever for a waiter without known lifetime', async () => {
    const client = await stage().client({ watchdogTimeout: 600 });
    await client.semaphore(stage().key).trySetPermits(1);
    await stage().command('RPUSH', semaphoreNames(stage().key).queue, 'nobody:1');
    const lease = await client.semaphore(stage().key, FAIR).acquire({ wait: 15_000 });
    await lease.release();
  });

  it('keeps the places of live waiters when the server has forgotten their lifetimes', async () => {
    const { mine, theirs, key } = stage();
    const lease = await onePermit();
    const { lease: first } = await queue(mine);
    const { lease: second } = await queue(theirs);
    const before = await waiters();
    await stage().command('DEL', semaphoreNames(key).alive);
    expect(await theirs.semaphore(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters()).toEqual(before);
    expect(await stage().command('PTTL', semaphoreNames(key).alive)).toBeGreaterThan(0);
    await lease.release();
    await (await first).release();
    await (await second).release();
  });

  it('drops a limited number of dead waiters at a time, and the waiter looks again at once', async () => {
    const { mine, theirs, key } = stage();
    const { queue: list, alive } = semaphoreNames(key);
    await mine.semaphore(key).trySetPermits(1);
    await stage().command('EVAL', SEED, 2, list, alive, 2 * DROPPED_AT_ONCE + 500);
    expect(await theirs.semaphore(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters()).toHaveLength(DROPPED_AT_ONCE + 500);
    const begin = performance.now();
    const lease = await mine.semaphore(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(5_000); // ms; by itself it looks after ten seconds
    expect(await stage().command('EXISTS', list, alive)).toBe(0);
    await lease.release();
  });

  test('has few waiters of each process on the server, and serves all in their order', async () => {
    const { mine, theirs } = stage();
    const lease = await onePermit();
    const served: string[] = [];
    const visits: Promise<void>[] = [];
    const enter = async (name: string, client: RedisLockClient) => {
      const queued = await queue(client);
      const visit = async () => {
        const held = await queued.lease;
        served.push(name);
        await held.release();
      };
      visits.push(visit());
    };
    const names = Array.from({ length: WAITERS_ON_SERVER + 3 }, (_, n) => `mine ${n}`);
    for (const name of names) await enter(name, mine);
    await enter('theirs', theirs);
    expect(await waiters()).toHaveLength(WAITERS_ON_SERVER + 1);
    await lease.release();
    await Promise.all(visits);
    const expected = [...names];
    expected.splice(WAITERS_ON_SERVER, 0, 'theirs'); // it came behind those that were on the server
    expect(served).toEqual(expected);
  });

  it('is not occupied by the holders of the process', async () => {
    const { mine, key } = stage();
    const count = WAITERS_ON_SERVER + 2;
    await mine.semaphore(key).trySetPermits(count);
    const leases = [];
    for (let n = 0; n < count; n++)
      leases.push(await mine.semaphore(key, FAIR).acquire({ lease: LONG_LEASE, wait: 10_000 }));
    expect(await mine.semaphore(key).availablePermits()).toBe(0);
    for (const lease of leases) await lease.release();
  });

  async function onePermit() {
    const semaphore = stage().mine.semaphore(stage().key, FAIR);
    await semaphore.trySetPermits(1);
    return await semaphore.acquire({ lease: LONG_LEASE });
  }

  function queue(client: RedisLockClient, options: RedisPermitOptions = { lease: LONG_LEASE }) {
    const { key } = stage();
    const acquire = () => client.semaphore(key, FAIR).acquire(options);
    return stage().queue(client, { key, acquire });
  }

  function waiters(): Promise<string[]> {
    return stage().command('LRANGE', semaphoreNames(stage().key).queue, 0, -1) as Promise<string[]>;
  }
}

/** Longer than any test: a client that is granted a permit before that was woken by a message. */
const LONG_LEASE = 600_000;

/** How clients wait for permits, and what ends a wait. */
export function permitExpirableSemaphoreWaitingSuite({ it, test, stage }: OnRedis): void {
  test('waits until others release (Redisson: RedissonPermitExpirableSemaphoreTest testTryAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    const lease = await mine.semaphore(key).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await queue(theirs, { wait: 20_000 });
    await stage().listening(semaphoreNames(key).channel);
    await lease.release();
    await isGranted(waiting);
  });

  it('waits until there are as many permits as requested (Redisson: RedissonPermitExpirableSemaphoreTest testBlockingAcquireMany)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(5);
    const leases = await Promise.all(
      [3, 2].map((permits) => mine.semaphore(key).acquire({ permits, lease: LONG_LEASE })),
    );
    const { lease: waiting } = await queue(theirs, { permits: 4 });
    const granted: string[] = [];
    void waiting.then(() => granted.push('all four'));
    await leases[0]!.release();
    expect(await theirs.semaphore(key).availablePermits()).toBe(3);
    expect(granted).toEqual([]);
    await leases[1]!.release();
    await using next = await waiting;
    expect(next.permitIds).toHaveLength(4);
  });

  test('is woken when permits are added, and when a number is set', async () => {
    const { mine, theirs, key } = stage();
    const { lease: first } = await queue(theirs);
    await stage().listening(semaphoreNames(key).channel);
    await mine.semaphore(key).addPermits(1);
    await using _ = await first;
    const { lease: second } = await queue(theirs);
    await stage().listening(semaphoreNames(key).channel);
    await mine.semaphore(key).setPermits(2);
    await isGranted(second);
  });

  it('wakes a waiter for two permits when two are released one by one (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyMultiPermits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    for (let round = 0; round < 5; round++) {
      const one = await mine.semaphore(key).acquire({ lease: LONG_LEASE });
      const other = await theirs.semaphore(key).acquire({ lease: LONG_LEASE });
      const { lease: waiting } = await queue(theirs, { permits: 2 });
      await Promise.all([one.release(), other.release()]);
      const two = await waiting;
      expect(two.permitIds).toHaveLength(2);
      await two.release();
    }
  });

  it('wakes others behind a waiter that took less than was released (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyMultiPermits2)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const all = await mine.semaphore(key).acquire({ permits: 3, lease: LONG_LEASE });
    const waiting = [
      await queue(theirs, { lease: LONG_LEASE }),
      await queue(theirs, { permits: 2, lease: LONG_LEASE }),
    ];
    await stage().listening(semaphoreNames(key).channel);
    await all.release();
    const next = await Promise.all(waiting.map(({ lease }) => lease));
    expect(next.map(({ permitIds }) => permitIds.length)).toEqual([1, 2]);
    for (const lease of next) await lease.release();
  });

  it('takes nothing when it is aborted at any time', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 2 });
    await (await semaphore.acquire()).release();
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = semaphore.acquire({ permits: 2, signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      abort.abort(new Error('never mind'));
      await acquired.then(
        (lease) => lease.release(),
        (error) => expect(error).toBeInstanceOf(LockAbortedError),
      );
    }
    await eventually('all are free', async () => (await semaphore.availablePermits()) === 2);
    expect(await semaphore.acquiredPermits()).toBe(0);
  });

  function queue(client: RedisLockClient, options: RedisPermitOptions = {}) {
    const { key } = stage();
    const acquire = () => client.semaphore(key).acquire(options);
    return stage().queue(client, { key, acquire });
  }
}
