import { afterEach, describe, expect, it } from '@jest/globals';
import { LockQueueFullError } from '../../../lib/core/errors/index.js';
import { type WaiterLimits, Waiters } from '../../../lib/core/internal/waiter-limits.js';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import type { Lock } from '../../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { eventually } from '../../support/time.js';

describe('The limits on the waiters of a client', () => {
  const clients: ZooKeeperLockClient[] = [];

  const connect = async (limits: WaiterLimits) => {
    const client = createEmbeddedLockClient(`limits-${clients.length}`, limits);
    clients.push(client);
    await client.connect();
    return client;
  };
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });

  /** Has so many acquires wait for the holder of the lock; `served` resolves when all of them have had it. */
  const waitersFor = async (lock: Lock, client: ZooKeeperLockClient, count: number) => {
    const before = client.status().waiting;
    const served = Array.from({ length: count }, () => lock.using(async () => {}));
    await eventually('they wait', () => client.status().waiting === before + count);
    return { served: Promise.all(served) };
  };

  it('refuse the first acquire beyond the limit of a key, at once, and say what to do', async () => {
    const client = await connect({ maxWaitersPerKey: 2 });
    const failures: LockEvents['failed'][] = [];
    client.on('failed', (event) => failures.push(event));
    const lock = client.mutex('door');
    const held = await lock.acquire();
    const { served } = await waitersFor(lock, client, 2);
    const nodes = await lock.participants();

    const refused = lock.acquire({ wait: 60_000, method: 'House.enter' });
    await expect(refused).rejects.toBeInstanceOf(LockQueueFullError);
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_QUEUE_FULL',
      key: 'door',
      client: client.name,
      waiting: 2,
      option: 'maxWaitersPerKey',
      message: expect.stringMatching(
        /^lock "door" of client "limits-\d+" was not requested: 2 acquires of that key .* `maxWaitersPerKey` /,
      ),
    });
    const about = { recipe: 'mutex', key: 'door', method: 'House.enter' };
    expect(failures).toEqual([
      { ...about, waitedMs: expect.any(Number), error: expect.any(LockQueueFullError) },
    ]);
    expect(await lock.participants()).toEqual(nodes); // it has sent nothing
    expect(client.status()).toMatchObject({ held: 1, waiting: 2 });
    expect(client.activity()).toHaveLength(3);

    await held.release();
    await served;
    await (await lock.acquire()).release();
  });

  it('are one for each key, and one for all of them', async () => {
    const client = await connect({ maxWaiters: 3, maxWaitersPerKey: 2 });
    const [a, b, c] = [client.mutex('a'), client.mutex('b'), client.mutex('c')];
    const held = [await a.acquire(), await b.acquire()];
    const waiting = [await waitersFor(a, client, 2), await waitersFor(b, client, 1)];
    await expect(a.acquire()).rejects.toMatchObject({ option: 'maxWaitersPerKey', waiting: 2 });
    const expected = { option: 'maxWaiters', waiting: 3, message: expect.stringMatching(/"c"/) };
    await expect(c.acquire()).rejects.toMatchObject(expected); // although it is free
    for (const lease of held) await lease.release();
    await Promise.all(waiting.map(({ served }) => served));
    await (await c.acquire()).release();
  });

  it('do not count an acquire that has ended, however it has ended', async () => {
    const client = await connect({ maxWaiters: 1 });
    const lock = client.mutex('door');
    const held = await lock.acquire();
    for (const options of [{ wait: 5 }, { signal: AbortSignal.timeout(5) }])
      await expect(lock.acquire(options)).rejects.not.toBeInstanceOf(LockQueueFullError);
    await held.release();
    await (await lock.acquire()).release();
  });

  it('do not refuse the caller that holds the key: neither a re-entry nor a downgrade', async () => {
    const client = await connect({ maxWaiters: 1 });
    const [mutex, book] = [client.mutex('door'), client.readWriteLock('book')];
    const both = client.multiLock([client.mutex('x'), client.mutex('y')]);
    const cases: [held: Lock, inner: Lock][] = [
      [mutex, mutex],
      [book.writeLock(), book.readLock()],
      [both, client.mutex('y')],
    ];
    for (const [outer, inner] of cases) {
      const held = await outer.acquire();
      const { served } = await waitersFor(outer, client, 1);
      await held.run(async () => {
        await inner.using(async () => {});
        await expect(client.mutex('other').acquire()).rejects.toBeInstanceOf(LockQueueFullError);
      });
      await held.release();
      await served;
    }
  });

  it('count nested acquires of other keys', async () => {
    const client = await connect({ maxWaitersPerKey: 1 });
    const [outer, inner] = [client.mutex('outer'), client.mutex('inner')];
    const held = await inner.acquire();
    const { served } = await waitersFor(inner, client, 1);
    const nested = outer.using(() => inner.using(async () => {}));
    await expect(nested).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL', key: 'inner' });
    await held.release();
    await served;
    expect(await outer.tryAcquire()).toBeDefined(); // the work has failed, and released its lock
  });

  it('count neither tryAcquire, nor elections', async () => {
    const client = await connect({ maxWaiters: 1 });
    const lock = client.mutex('door');
    const held = await lock.acquire();
    const { served } = await waitersFor(lock, client, 1);
    const all = await Promise.all([lock.tryAcquire(), client.mutex('free').tryAcquire()]);
    expect(all.map((lease) => lease !== undefined)).toEqual([false, true]);
    const latches = [1, 2, 3].map(() => client.leaderLatch('chair'));
    for (const latch of latches) latch.start();
    await latches[0]!.awaitLeadership({ wait: 10_000 });
    await eventually('the others follow', () => client.status().waiting === 3);
    await held.release();
    await served;
  });

  it('release what a multi-lock holds already, when one of its parts is refused', async () => {
    const client = await connect({ maxWaitersPerKey: 1 });
    const [a, b] = [client.mutex('a'), client.mutex('b')];
    const held = await b.acquire();
    const { served } = await waitersFor(b, client, 1);
    await expect(client.multiLock([a, b]).acquire()).rejects.toMatchObject({ key: 'b' });
    await eventually('a is free', async () => (await a.participants()).length === 0);
    await held.release();
    await served;
  });

  it('let 20,000 acquires of one key and 100,000 in all wait by default', () => {
    const waiters = new Waiters('unit', {});
    for (let i = 0; i < 100_000; i++) waiters.enter([`key-${i % 5}`]);
    expect(waiters.count).toBe(100_000);
    const unlimited = { maxWaiters: Infinity, maxWaitersPerKey: Infinity };
    const more = new Waiters('unit', unlimited);
    for (let i = 0; i < 300_000; i++) more.enter(['key']);
    expect(more.count).toBe(300_000);
  });

  it('keep a bounded number of keys in memory, and count on', () => {
    const waiters = new Waiters('unit', { maxWaitersPerKey: 2 });
    const entered = [['door'], ['door', 'gate']];
    for (const keys of entered) waiters.enter(keys);
    for (let i = 0; i < 100_000; i++) {
      waiters.enter([`key-${i}`]);
      waiters.leave([`key-${i}`]);
    }
    expect(waiters.keys).toBeLessThan(2_100);
    expect(() => waiters.enter(['gate', 'door'])).toThrow(LockQueueFullError);
    for (const keys of entered) waiters.leave(keys);
    expect(waiters.count).toBe(0);
    waiters.enter(['door', 'gate']);
    waiters.enter(['door', 'gate']);
    expect(() => waiters.enter(['gate'])).toThrow(LockQueueFullError);
    expect(waiters.count).toBe(2);
  });

  it.each([
    ['maxWaiters', 0],
    ['maxWaiters', 1.5],
    ['maxWaiters', NaN],
    ['maxWaiters', '100'],
    ['maxWaitersPerKey', -1],
    ['maxWaitersPerKey', null],
  ])('are whole numbers: %s is not %p', (option, value) => {
    expect(() => createEmbeddedLockClient('unit', { [option]: value })).toThrow(
      expect.objectContaining({
        code: 'LOCK_OPTIONS',
        option,
        client: 'unit',
        expected: expect.stringContaining('a whole number from 1, or Infinity'),
      }),
    );
  });
});
