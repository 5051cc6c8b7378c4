import { expect, it } from '@jest/globals';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import type { RedisPermitOptions } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

const FAIR = { fair: true };
/** Longer than any test. */
const LONG_LEASE = 600_000;
/** How many dead waiters one call removes at most. */
const AT_ONCE = 1_000;

const SEED = `
for i = 1, tonumber(ARGV[1]) do
  redis.call('RPUSH', KEYS[1], 'dead:' .. i)
  redis.call('ZADD', KEYS[2], 1, 'dead:' .. i)
end
`;

/** What keeps the queue of the fair semaphore alive, and what is removed from it. */
export function permitExpirableSemaphoreQueueSuite(stage: () => RedisStage): void {
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
    await stage().command('EVAL', SEED, 2, list, alive, 2 * AT_ONCE + 500);
    expect(await theirs.semaphore(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters()).toHaveLength(AT_ONCE + 500);
    const begin = performance.now();
    const lease = await mine.semaphore(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(5_000); // ms; by itself it looks after ten seconds
    expect(await stage().command('EXISTS', list, alive)).toBe(0);
    await lease.release();
  });

  it('has few waiters of each process on the server, and serves all in their order', async () => {
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
