import { expect } from '@jest/globals';
import { LockKeyError, LockNotHeldError, LockOptionsError } from '../../lib/core/errors/index.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { lockRenew, permitAcquire, permitRelease } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import { type OnRedis, semaphoreNames } from './support/redis-stage.js';

const NO_NUMBERS = [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', null] as unknown as number[];
const NO_LEASES = [0, -1, 99, 100.5, NaN, Infinity, 2 ** 31, '500', null] as unknown as number[];
const NO_IDS = [
  '',
  'ab',
  'zz'.repeat(16),
  'ab'.repeat(17),
  `${'ab'.repeat(15)}a\n`,
  7,
  null,
  undefined,
] as unknown as string[];

/** Invalid arguments are rejected before anything is sent. */
export function permitExpirableSemaphoreBadInputSuite({ it, test, stage }: OnRedis): void {
  it.each(NO_NUMBERS)('rejects %p as a number of permits', async (permits) => {
    const { mine, key } = stage();
    expect(() => mine.semaphore(key, { permits })).toThrow(LockOptionsError);
    const semaphore = mine.semaphore(key);
    for (const ask of [
      () => semaphore.acquire({ permits }),
      () => semaphore.tryAcquire({ permits }),
      () => semaphore.using(() => {}, { permits }),
      () => semaphore.trySetPermits(permits),
      () => semaphore.setPermits(permits),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permits', key });
    expect(await stage().keys()).toEqual([]);
  });

  it.each([0, 1.5, NaN, -Infinity, 2 ** 31, -(2 ** 31)])(
    'rejects an addition of %p permits',
    async (permits) => {
      const { mine, key } = stage();
      await expect(mine.semaphore(key).addPermits(permits)).rejects.toMatchObject({
        code: 'LOCK_OPTIONS',
        option: 'permits',
      });
      expect(await stage().keys()).toEqual([]);
    },
  );

  it('rejects at once a request for more permits than its declared number', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    const refusal = await semaphore.acquire({ permits: 4 }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(String(refusal)).toContain('from 1 to 3');
    await expect(semaphore.tryAcquire({ permits: 4 })).rejects.toBeInstanceOf(LockOptionsError);
  });

  it('keeps a request for more permits than exist waiting, where no number is declared', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    expect(await mine.semaphore(key).tryAcquire({ permits: 4 })).toBeUndefined();
    await expect(mine.semaphore(key).acquire({ permits: 4, wait: 100 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
  });

  it.each(NO_LEASES)('rejects a lease of %p', async (lease) => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    await expect(semaphore.acquire({ lease })).rejects.toMatchObject({ option: 'lease' });
    await expect(semaphore.updateLeaseTime('ab'.repeat(16), lease)).rejects.toMatchObject({
      option: 'lease',
    });
    await using held = await semaphore.acquire();
    await expect(held.extend(lease)).rejects.toMatchObject({ option: 'lease' });
    expect(held.isHeld).toBe(true);
  });

  it.each(NO_IDS)('rejects %p as an id', async (id) => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    await using lease = await semaphore.acquire();
    for (const ask of [
      () => semaphore.release(id),
      () => semaphore.tryRelease(id),
      () => semaphore.release([...lease.permitIds, id]),
      () => semaphore.getLeaseTime(id),
      () => semaphore.updateLeaseTime(id, 5_000),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permitId', key });
    expect([lease.isHeld, await semaphore.acquiredPermits()]).toEqual([true, 1]);
  });

  it('rejects an id that was already released', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 1 });
    const lease = await semaphore.acquire();
    await lease.release();
    await expect(semaphore.release(lease.permitIds)).rejects.toMatchObject({
      code: 'LOCK_NOT_HELD',
      key,
    });
    await lease.release();
    await expect(lease.extend(5_000)).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await semaphore.availablePermits()).toBe(1);
  });

  it('rejects another kind under its key, in the same client', () => {
    const { mine, key } = stage();
    mine.semaphore(key);
    expect(mine.semaphore(key, { permits: 2, fair: true }).key).toBe(key);
    for (const make of [
      () => mine.plainSemaphore(key),
      () => mine.mutex(key),
      () => mine.countDownLatch(key),
      () => mine.readWriteLock(key),
    ])
      expect(make).toThrow(LockKeyError);
  });

  it('rejects a mutex under its key, and a semaphore under that of a mutex, in another client', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.semaphore(key, { permits: 2 }).acquire();
    await expect(theirs.mutex(key).tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
    expect(lease.isHeld).toBe(true);
    await lease.release();
    await using _ = await theirs.mutex(`{${key}}:2`).acquire();
    await expect(mine.semaphore(`{${key}}:2`).tryAcquire()).rejects.toBeInstanceOf(LockKeyError);
  });

  test.each(['', '{}', 'a{}b'])('rejects the key %p where it cannot work', (key) => {
    const { mine } = stage();
    if (key === '' || stage().isCluster) expect(() => mine.semaphore(key)).toThrow(LockKeyError);
    else expect(mine.semaphore(key).key).toBe(key);
  });
}

/** Invalid arguments are rejected before anything is sent. */
export function semaphoreBadInputSuite({ it, stage }: OnRedis): void {
  it.each(NO_NUMBERS)('rejects %p as a number of permits', async (permits) => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    for (const ask of [
      () => semaphore.acquire({ permits }),
      () => semaphore.tryAcquire({ permits }),
      () => semaphore.using(() => {}, { permits }),
      () => semaphore.release(permits),
      () => semaphore.releaseIfExists(permits),
      () => semaphore.trySetPermits(permits),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'permits', key });
    expect(await stage().keys()).toEqual([]);
  });

  it('rejects less than one permit (Redisson: RedissonSemaphoreTest testZero)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    for (const ask of [
      () => semaphore.tryAcquire({ permits: 0 }),
      () => semaphore.release(0),
      () => semaphore.addPermits(0),
      () => semaphore.trySetPermits(0),
    ])
      await expect(ask()).rejects.toMatchObject({ option: 'permits' });
    expect(await stage().keys()).toEqual([]);
  });

  it.each([0, 99, 100.5, NaN, Infinity, 2 ** 31, -1])(
    'rejects %p as the lifetime of the semaphore',
    async (timeToLive) => {
      const { mine, key } = stage();
      await expect(mine.plainSemaphore(key).trySetPermits(1, timeToLive)).rejects.toMatchObject({
        code: 'LOCK_OPTIONS',
        option: 'timeToLive',
      });
      expect(await stage().keys()).toEqual([]);
    },
  );

  it.each([-1, NaN, '5'] as unknown as number[])('rejects a wait of %p ms', async (wait) => {
    const { mine, key } = stage();
    for (const ask of [
      () => mine.plainSemaphore(key).acquire({ wait }),
      () => mine.plainSemaphore(key).tryAcquire({ wait }),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'wait' });
  });

  it('rejects another kind under its key, in the same client', () => {
    const { mine, key } = stage();
    mine.plainSemaphore(key);
    expect(() => mine.semaphore(key)).toThrow(LockKeyError);
    expect(() => mine.mutex(key)).toThrow(LockKeyError);
    expect(() => mine.countDownLatch(key)).toThrow(LockKeyError);
    expect(mine.plainSemaphore(key).key).toBe(key);
  });
}

/** Longer than any test. */
const LONG_LEASE = 600_000;

/** The keys on the servers and the messages; Redisson has to understand them. */
export function permitExpirableSemaphoreLayoutSuite({ it, test, stage }: OnRedis): void {
  test('is a number of free permits, and a sorted set of the others with their expiry times', async () => {
    const { mine, key } = stage();
    const { free, timeouts, wanted } = names();
    const before = await serverTime();
    await using lease = await mine.semaphore(key, { permits: 5 }).acquire({
      permits: 2,
      lease: LONG_LEASE,
    });
    expect(await stage().keys()).toEqual([free, timeouts, wanted].sort());
    expect(await stage().command('GET', free)).toBe('3');
    expect(await stage().command('GET', wanted)).toBe('5');
    expect(await stage().command('TYPE', timeouts)).toBe('zset');
    for (const name of [free, timeouts, wanted])
      expect(await stage().command('PTTL', name)).toBe(-1);
    const members = await stage().connection().zrangeBuffer(timeouts, '0', '-1');
    expect(members.map((member) => member.length)).toEqual([16, 16]);
    expect(members.map((member) => member.toString('hex')).sort()).toEqual(
      [...lease.permitIds].sort(),
    );
    const score = Number(await stage().connection().zscore(timeouts, members[0]!));
    expect(score).toBeGreaterThanOrEqual(before + LONG_LEASE);
    expect(score).toBeLessThan(before + LONG_LEASE + 60_000);
  });

  it('leaves the number of permits, and nothing else, when all are released', async () => {
    const { mine, key } = stage();
    const { free, wanted } = names();
    const lease = await mine.semaphore(key, { permits: 2 }).acquire({ permits: 2 });
    await lease.release();
    expect(await stage().keys()).toEqual([free, wanted].sort());
    expect(await stage().command('GET', free)).toBe('2');
  });

  it('leaves none of our keys where it declares no number of permits', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    await (await mine.semaphore(key).acquire()).release();
    expect(await stage().keys()).toEqual([key]);
  });

  test('publishes the number of free permits, whatever has freed them', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    const semaphore = mine.semaphore(key, { permits: 3 });
    const lease = await semaphore.acquire({ permits: 2 });
    const other = await semaphore.acquire();
    await lease.release();
    await semaphore.release(other.permitIds);
    await semaphore.addPermits(2);
    await semaphore.setPermits(7);
    expect(await log.published(key)).toEqual(['3', '2', '3', '5', '7'].map(message));
  });

  it('publishes no number that is not above 0', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key);
    await semaphore.trySetPermits(2);
    const lease = await semaphore.acquire({ permits: 2 });
    const log = await stage().log();
    await theirs.semaphore(key).setPermits(1);
    await theirs.semaphore(key).addPermits(-3);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    await lease.release();
    expect(await stage().command('GET', key)).toBe('-2');
    expect(await log.published(key)).toEqual([]);
  });

  test('treats a key with a brace as one with its own hash tag', async () => {
    const { mine, theirs } = stage();
    const key = `{${stage().key}}:seats`;
    const lease = await mine.semaphore(key, { permits: 1 }).acquire({ lease: LONG_LEASE });
    expect(await stage().keys()).toEqual(
      [key, `${key}:timeout`, `interlock_permits:${key}`].sort(),
    );
    const { lease: waiting } = await stage().queue(theirs, theirs.semaphore(key));
    await stage().listening(`redisson_sc:${key}`);
    await lease.release();
    await (await waiting).release();
    await stage().command('DEL', key, `interlock_permits:${key}`);
  });

  it('is refused beside one whose key has braces around it, or lacks them: both have their permits in one place', () => {
    const { mine, theirs, key } = stage();
    mine.semaphore(key, { permits: 1 });
    expect(() => mine.semaphore(`{${key}}`, { permits: 1 })).toThrow(LockKeyError);
    expect(() => mine.mutex(`{${key}}`, { fair: true })).toThrow(LockKeyError);
    expect(() => mine.mutex(`{${key}}`)).not.toThrow();
    theirs.semaphore(`{${key}}`);
    expect(() => theirs.semaphore(key)).toThrow(/this client already uses \{/);
    theirs.semaphore(`{${key}}`); // goes on
  });

  test('has the prefix in all its names, as with a NameMapper (Redisson: RedissonPermitExpirableSemaphoreTest testGetInClusterNameMapper)', async () => {
    const { key, mine } = stage();
    const prefixed = await stage().client({ prefix: 'shop:' });
    const lease = await prefixed.semaphore(key, { permits: 1 }).acquire({ lease: LONG_LEASE });
    const kept = [`shop:${key}`, `interlock_permits:{shop:${key}}`];
    expect(await stage().keys()).toEqual([...kept, `{shop:${key}}:timeout`].sort());
    const whole = mine.semaphore(`shop:${key}`);
    expect(await whole.getPermits()).toBe(1);
    const { lease: waiting } = await stage().queue(mine, whole);
    await lease.release();
    await (await waiting).release();
    await stage().connection().del(kept);
  });

  it('counts an acquire that is sent twice once', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    for (let time = 0; time < 2; time++) expect(await acquire(2)).toEqual([1, 0]);
    expect(await mine.semaphore(key).availablePermits()).toBe(1);
    expect(await mine.semaphore(key).acquiredPermits()).toBe(2);
    expect(await release(2)).toBeGreaterThanOrEqual(0);
  });

  it('releases once what is released twice, and wakes no waiter the second time', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await acquire(2);
    expect(await release(2)).toBe(0);
    const log = await stage().log();
    expect(await release(2)).toBe(-1);
    expect(await log.published(key)).toEqual([]);
    expect(await mine.semaphore(key).availablePermits()).toBe(2);
  });

  it('does not retake permits by a renewal that comes after their release or expiry', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await acquire(2);
    await release(2);
    expect(await renew(2)).toEqual([0]);
    await acquire(2, 100);
    await eventually('it is over', async () => (await mine.semaphore(key).acquiredPermits()) === 0);
    expect(await renew(2)).toEqual([0]);
    expect(await mine.semaphore(key).availablePermits()).toBe(2);
    expect(await release(2)).toBe(0);
  });

  function names() {
    return semaphoreNames(stage().key);
  }

  function ofHolder(holder: string) {
    const name = new LockName(stage().key);
    return { gone: name.gone(holder), extended: name.extended(holder) };
  }

  function message(text: string): string {
    return `${stage().publish} ${names().channel} ${text}`;
  }

  function acquire(permits: number, lease = LONG_LEASE): Promise<unknown> {
    const { free, timeouts, channel, wanted, queue, alive } = names();
    const holder = holderOf(permits);
    const text = holder.toString('hex');
    const { gone } = ofHolder(text);
    const args = [lease, holder, text, '', stage().publish, 0, 0, 30_000, channel, gone, 0, '', 0];
    return run(permitAcquire, [free, timeouts, wanted, queue, alive], args);
  }

  function release(permits: number): Promise<unknown> {
    const { free, timeouts, channel, queue, alive, wanted } = names();
    const holder = holderOf(permits);
    const text = holder.toString('hex');
    const { extended } = ofHolder(text);
    const args = [holder, text, stage().publish, channel, '', '', ''];
    return run(permitRelease, [free, timeouts, queue, alive, extended, wanted], args);
  }

  function renew(permits: number): Promise<unknown> {
    const { timeouts } = names();
    const holder = holderOf(permits);
    const { extended } = ofHolder(holder.toString('hex'));
    return run(lockRenew, [timeouts, extended], [holder, LONG_LEASE, 'permits', 0, 0]);
  }

  function run({ source }: Script, keys: string[], args: (string | number | Buffer)[]) {
    return stage()
      .connection()
      .eval(source, keys.length, ...keys, ...args);
  }

  async function serverTime(): Promise<number> {
    const [seconds, micros] = (await stage().command('TIME')) as [string, string];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }
}

function holderOf(permits: number): Buffer {
  const holder = Buffer.alloc(16, 0xab);
  holder.writeUInt32BE(permits, 12);
  return holder;
}
