import { expect, it } from '@jest/globals';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import { lockRenew, permitAcquire, permitRelease } from '../../lib/redis/scripts/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** Longer than any test. */
const LONG_LEASE = 600_000;

/** The keys on the servers and the messages; Redisson has to understand them. */
export function permitExpirableSemaphoreLayoutSuite(stage: () => RedisStage): void {
  it('is a number of free permits, and a sorted set of the others with their expiry times', async () => {
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

  it('publishes the number of free permits, whatever has freed them', async () => {
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

  it('treats a key with a brace as one with its own hash tag', async () => {
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

  it('has the prefix in all its names, as with a NameMapper (Redisson: RedissonPermitExpirableSemaphoreTest testGetInClusterNameMapper)', async () => {
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
    return `${publish()} ${names().channel} ${text}`;
  }

  function publish(): string {
    return stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
  }

  function acquire(permits: number, lease = LONG_LEASE): Promise<unknown> {
    const { free, timeouts, channel, wanted, queue, alive } = names();
    const holder = holderOf(permits);
    const text = holder.toString('hex');
    const { gone } = ofHolder(text);
    const args = [lease, holder, text, '', publish(), 0, 0, 30_000, channel, gone];
    return run(permitAcquire, [free, timeouts, wanted, queue, alive], args);
  }

  function release(permits: number): Promise<unknown> {
    const { free, timeouts, channel, queue, alive } = names();
    const holder = holderOf(permits);
    const text = holder.toString('hex');
    const { extended } = ofHolder(text);
    const args = [holder, text, publish(), channel, ''];
    return run(permitRelease, [free, timeouts, queue, alive, extended], args);
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
