import { expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** What an operator sees of the holders of locks. */
export function lockHoldersSuite(stage: () => RedisStage): void {
  it('reports no holder while it is free', async () => {
    const { mine, key } = stage();
    expect(await mine.mutex(key).holders()).toEqual([]);
    await (await mine.mutex(key).acquire()).release();
    expect(await mine.mutex(key).holders()).toEqual([]);
  });

  it.each([{}, { fenced: true }, { fair: true }])(
    'reports the process of its holder, the method, and the time of the grant, for a mutex %j',
    async (options) => {
      const { mine, theirs, key } = stage();
      const before = Date.now();
      await using lease = await mine.mutex(key, options).acquire({ method: 'Orders.close' });
      const [holder, ...others] = await theirs.mutex(key, options).holders();
      expect(others).toEqual([]);
      expect(holder).toEqual({
        id: lease.holder,
        mode: 'alone',
        host: hostname(),
        pid: process.pid,
        method: 'Orders.close',
        since: expect.any(Date),
      });
      expect(holder!.since!.getTime()).toBeGreaterThanOrEqual(before);
      expect(holder!.since!.getTime()).toBeLessThanOrEqual(Date.now());
    },
  );

  it('reports a waiter only once it holds the lock', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    const { lease: waiting } = await stage().queue(theirs);
    expect((await mine.mutex(key).holders()).map(({ id }) => id)).toEqual([lease.holder]);
    await lease.release();
    await using next = await waiting;
    expect((await mine.mutex(key).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('reports no reader after the end of its lease, though its field stays while others read', async () => {
    const { mine, theirs, key } = stage();
    await using reader = await mine.readWriteLock(key).readLock().acquire();
    const crashed = await theirs.readWriteLock(key).readLock().acquire({ lease: 300 });
    const names = async () => (await mine.readWriteLock(key).holders()).map(({ id }) => id);
    await eventually('it is not named', async () => (await names()).length === 1);
    expect(await names()).toEqual([reader.holder]);
    expect(await stage().fields(key)).toHaveProperty([crashed.holder]);
    await crashed.release();
  });

  it('reports readers and writers of Redisson by their owners', async () => {
    const { mine, key } = stage();
    const owner = 'b983c153-7421-469a-addb-44fb92259a1b:47';
    await stage().command('HSET', key, 'mode', 'write', `${owner}:write`, 1, owner, 1);
    await stage().command('SET', `{${key}}:${owner}:rwlock_timeout:1`, 1);
    expect(await mine.readWriteLock(key).holders()).toEqual([
      { id: owner, mode: 'write' },
      { id: owner, mode: 'read' },
    ]);
    await stage().command('DEL', key, `{${key}}:${owner}:rwlock_timeout:1`);
  });

  it('reports a holder of Redisson by its owner', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, 'b983c153-7421-469a-addb-44fb92259a1b:47', 2);
    expect(await mine.mutex(key).holders()).toEqual([
      { id: 'b983c153-7421-469a-addb-44fb92259a1b:47', mode: 'alone' },
    ]);
    await stage().command('DEL', key);
  });

  it('reports a holder by its owner where its details were overwritten with unreadable text', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    for (const text of ['', '7', '{', '{"host":']) {
      await stage().command('HSET', key, 'nestjs-interlock', text);
      expect(await mine.mutex(key).holders()).toEqual([{ id: lease.holder, mode: 'alone' }]);
    }
  });
}
