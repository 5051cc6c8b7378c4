import { expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { RedisPermitOptions } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

const FAIR = { fair: true };
/** Longer than any test. */
const LONG_LEASE = 600_000;
/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const AT_ONCE = 3_000;

/** First come, first served, among our clients that ask for it. */
export function permitExpirableSemaphoreFairSuite(stage: () => RedisStage): void {
  it('serves waiters of several clients in the order of arrival', async () => {
    const { mine, theirs, key } = stage();
    const clients = [mine, theirs, await stage().client()];
    await mine.semaphore(key).trySetPermits(1);
    const lease = await mine.semaphore(key, FAIR).acquire({ lease: LONG_LEASE });
    const served: number[] = [];
    const visits: Promise<unknown>[] = [];
    const order = Array.from({ length: 15 }, (_, n) => n);
    for (const n of order) {
      const { lease: waiting } = await queue(clients[n % 3]!);
      visits.push(
        waiting.then((held) => {
          served.push(n);
          return held.release();
        }),
      );
    }
    expect(await waiters()).toHaveLength(15);
    await lease.release();
    await Promise.all(visits);
    expect(served).toEqual(order);
  });

  it('does not let small requests pass a big one at the head', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const [one, two] = [await take(mine, 1), await take(mine, 2)];
    const { lease: big } = await queue(theirs, { permits: 3, lease: LONG_LEASE });
    const { lease: small } = await queue(mine, { lease: LONG_LEASE });
    await one.release();
    expect(await mine.semaphore(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters()).toHaveLength(2);
    await two.release();
    const all = await big;
    expect(await waiters()).toHaveLength(1);
    await all.release();
    await (await small).release();
  });

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
      [1, 2, 3].map(() => stage().client({ watchdogTimeout: 2_400 })),
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
    await eventually('two lives are over', () => performance.now() - begin > 4_800);
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

  it('removes all waiters of a client that closes', async () => {
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

  it('is a list of the waiters in their order, with the channels that wake them as their names', async () => {
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
    const publish = stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
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
