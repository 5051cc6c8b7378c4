import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { LockKeyError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** Expiry time of a permit that does not expire. */
const NEVER = 922_337_203_685_477;
/** Longer than any test. */
const LONG_LEASE = 600_000;

/** What Redisson, or the end of its processes, leaves on the server. */
export function permitExpirableSemaphoreRedissonSuite(stage: () => RedisStage): void {
  it('takes back expired permits with the next acquire, and publishes it', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(1, 1_000, Date.now() - 5_000);
    const log = await stage().log();
    await using lease = (await mine.semaphore(key).tryAcquire({ permits: 2 }))!;
    expect(lease.isHeld).toBe(true);
    expect(await stage().command('GET', key)).toBe('1');
    const publish = stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
    expect(await log.published(key)).toEqual([`${publish} ${semaphoreNames(key).channel} 3`]);
  });

  it('waits for a permit of Redisson until it expires', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(Date.now() + 500, NEVER);
    await using lease = await mine.semaphore(key).acquire({ wait: 10_000 });
    expect(lease.isHeld).toBe(true);
    expect(await mine.semaphore(key).acquiredPermits()).toBe(2);
    await stage().command('DEL', semaphoreNames(key).timeouts);
  });

  it('waits for a permit that does not expire until the message', async () => {
    const { mine, key } = stage();
    const { channel, timeouts } = semaphoreNames(key);
    await stage().command('SET', key, 0);
    const [id = ''] = await held(NEVER);
    expect(await mine.semaphore(key).getLeaseTime(id)).toBe(-1);
    expect(await mine.semaphore(key).acquiredPermits()).toBe(1);
    const { lease: waiting } = await stage().queue(mine, mine.semaphore(key));
    await stage().listening(channel);
    await stage().command('DEL', timeouts); // the release of Redisson
    await stage().command('INCR', key);
    await stage().command(stage().isCluster ? 'SPUBLISH' : 'PUBLISH', channel, '1');
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('releases a permit of Redisson by the id that Redisson shows', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    const [endless = '', ending = ''] = await held(NEVER, Date.now() + LONG_LEASE);
    const semaphore = mine.semaphore(key);
    expect(await semaphore.updateLeaseTime(endless, LONG_LEASE)).toBe(true);
    expect(await semaphore.getLeaseTime(endless)).toBeLessThanOrEqual(LONG_LEASE);
    await semaphore.release([endless, ending]);
    expect(await semaphore.availablePermits()).toBe(2);
  });

  it('grants nothing while its number is negative', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, -2);
    const semaphore = mine.semaphore(key);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await semaphore.availablePermits()).toBe(-2);
    await semaphore.addPermits(3);
    await using lease = (await semaphore.tryAcquire())!;
    expect(lease.isHeld).toBe(true);
  });

  it('stays negative where expired permits do not make up for it', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, -3);
    await held(1_000, 2_000);
    expect(await mine.semaphore(key).availablePermits()).toBe(-1);
    expect(await mine.semaphore(key).tryAcquire()).toBeUndefined();
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('-1');
  });

  it('lets the permits expire with a number that expires', async () => {
    const { mine, key } = stage();
    const { timeouts } = semaphoreNames(key);
    await stage().command('SET', key, 2, 'PX', LONG_LEASE);
    await using _ = await mine.semaphore(key).acquire();
    expect(await stage().command('PTTL', key)).toBeGreaterThan(LONG_LEASE - 60_000);
    expect(await stage().command('PTTL', timeouts)).toBeGreaterThan(LONG_LEASE - 60_000);
  });

  it('loses its leases when the number and the permits are deleted', async () => {
    const { key } = stage();
    const client = await stage().client({ watchdogTimeout: 600 });
    const semaphore = client.semaphore(key, { permits: 2 });
    const lease = await semaphore.acquire();
    await stage().command('DEL', key, semaphoreNames(key).timeouts);
    await eventually('it is lost', () => lease.signal.aborted);
    await lease.release();
    await using both = (await semaphore.tryAcquire({ permits: 2 }))!;
    expect(both.isHeld).toBe(true);
  });

  it('takes back thousands of expired permits at once', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 0);
    await held(...Array.from({ length: 10_000 }, (_, n) => n + 1));
    await using lease = (await mine.semaphore(key).tryAcquire())!;
    expect(lease.isHeld).toBe(true);
    expect(await mine.semaphore(key).availablePermits()).toBe(9_999);
  });

  it.each<[string, ...(string | number)[]]>([
    ['HSET', 'field', 'theirs'],
    ['RPUSH', 'theirs'],
    ['SADD', 'theirs'],
    ['ZADD', 1, 'theirs'],
    ['SET', 'theirs'],
  ])('rejects a foreign key, and leaves it alone (%s)', async (command, ...operands) => {
    const { mine, key } = stage();
    await stage().command(command, key, ...operands);
    const before = await stage().command('DUMP', key);
    for (const options of [{}, { fair: true }, { permits: 3 }]) {
      const semaphore = mine.semaphore(key, options);
      for (const ask of [
        () => semaphore.acquire(),
        () => semaphore.tryAcquire(),
        () => semaphore.getPermits(),
        () => semaphore.setPermits(3),
        () => semaphore.addPermits(3),
      ])
        await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    }
    await mine.close(); // its background work is done then
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('DUMP', key)).toEqual(before);
  });

  it('rejects permits that are something else', async () => {
    const { mine, key } = stage();
    const { timeouts } = semaphoreNames(key);
    await stage().command('SET', timeouts, 'theirs');
    const semaphore = mine.semaphore(key);
    for (const ask of [
      () => semaphore.acquire(),
      () => semaphore.tryRelease('ab'.repeat(16)),
      () => semaphore.getLeaseTime('ab'.repeat(16)),
    ])
      await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    await mine.close();
    expect(await stage().keys()).toEqual([timeouts]);
    await stage().command('DEL', timeouts);
  });

  /** Permits of Redisson, with the expiry time of each. */
  async function held(...deadlines: number[]): Promise<string[]> {
    const ids = deadlines.map(() => randomBytes(16));
    const members = deadlines.flatMap((deadline, i) => [deadline, ids[i]!]);
    await stage()
      .connection()
      .zadd(semaphoreNames(stage().key).timeouts, ...members);
    return ids.map((id) => id.toString('hex'));
  }
}
