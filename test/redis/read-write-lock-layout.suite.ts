import { expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisStage } from './redis-stage.js';

/** A lease that is not renewed, in ms. */
const LEASE = 60_000;

/** The keys on the server, in Redisson's layout. */
export function readWriteLockLayoutSuite(stage: () => RedisStage): void {
  it('keeps a reader as a field, with a key that lives as long as its lease', async () => {
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
    expect(await stage().keys()).toEqual([key, hold(long), hold(short)].sort());
    await expectLife(hold(long), LEASE);
    await expectLife(hold(short), LEASE / 2);
    await expectLife(key, LEASE); // the life of the longest lease

    await long.release();
    expect(await stage().fields(key)).toEqual({ mode: 'read', [short.holder]: '1' });
    expect(await stage().keys()).toEqual([key, hold(short)].sort());
    await expectLife(key, LEASE / 2);
    await short.release();
    expect(await stage().keys()).toEqual([]);
    expect(names.readHold(short.holder, 1)).toBe(hold(short));
  });

  it('keeps a writer as a field that marks it as writer, beside its field as a reader', async () => {
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

  it('notifies waiters on the channel that Redisson uses for them', async () => {
    const { mine, names, key } = stage();
    const lock = mine.readWriteLock(key);
    const log = await stage().log();
    await lock.readLock().using(() => {}, { lease: 500 });
    await lock.writeLock().using(() => {});
    const writer = await lock.writeLock().acquire();
    const reader = await writer.run(() => lock.readLock().acquire());
    await writer.release();
    await reader.release();
    const publish = `${stage().isCluster ? 'SPUBLISH' : 'PUBLISH'} ${names.readWriteChannel}`;
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

  it('is not granted over a mutex of that name, nor a mutex over it', async () => {
    const { mine, theirs, key } = stage();
    const mutex = await theirs.mutex(key).acquire();
    for (const half of halves(mine)) {
      await expect(half.acquire()).rejects.toThrow(LockKeyError);
      await expect(half.tryAcquire()).rejects.toThrow(LockKeyError);
    }
    expect(await stage().fields(key)).toMatchObject({ [mutex.holder]: '1' });
    expect(() => theirs.readWriteLock(key)).toThrow(LockKeyError);
    await mutex.release();

    const others = await stage().client();
    for (const half of halves(mine)) {
      await using _ = await half.acquire();
      for (const wanted of [theirs.mutex(key), others.mutex(key, { fair: true })])
        await expect(wanted.acquire()).rejects.toThrow(LockKeyError);
    }
  });

  function halves(client: RedisLockClient) {
    const lock = client.readWriteLock(stage().key);
    return [lock.readLock(), lock.writeLock()];
  }

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
