import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  LockAbortedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message. */
const LONG_LEASE = 600_000;

/** How clients wait for the lock, and what ends a wait. */
export function lockWaitingSuite(stage: () => RedisStage): void {
  it('wakes a waiter by a message, long before the lease is over', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await stage().queue(theirs);
    await stage().listening(stage().names.channel);
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('is granted to a waiter when a lease that is not released is over (Redisson: RedissonLockTest testExpire)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key).acquire({ lease: 500 });
    const startedAt = performance.now();
    await using next = await mine.mutex(key).acquire({ wait: 5_000 });

    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    await lease.release();
    expect((await mine.mutex(key).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('is free one watchdogTimeout after its holder has died (Redisson: RedissonLockTest testAutoExpire)', async () => {
    const { mine, key } = stage();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection, watchdogTimeout: 400 });
    const lease = await dying.mutex(key).acquire();
    connection.disconnect();
    await using next = await mine.mutex(key).acquire({ wait: 5_000 });
    expect([next.isHeld, lease.isHeld]).toEqual([true, false]);
  });

  it('is waited for as long as requested (Redisson: RedissonLockTest testTryLockWait)', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.mutex(key).acquire();
    const startedAt = performance.now();
    await expect(theirs.mutex(key).acquire({ wait: 300 })).rejects.toBeInstanceOf(LockTimeoutError);
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(2_000);
  });

  it('is waited for in spite of another acquire that is aborted (Redisson: RedissonLockTest testLockUninterruptibly)', async () => {
    const { mine, theirs } = stage();
    const mutex = mine.mutex(stage().key);
    const held = await mutex.acquire();
    const abort = new AbortController();
    const impatient = await stage().queue(theirs, undefined, { signal: abort.signal });
    const patient = await stage().queue(theirs);
    abort.abort(new Error('enough'));
    await expect(impatient.lease).rejects.toBeInstanceOf(LockAbortedError);

    await held.release();
    await using next = await patient.lease;
    expect(next.isHeld).toBe(true);
  });

  it('is neither held nor renewed by a caller that aborts during its acquire (Redisson: RedissonLockTest testLockIsNotRenewedAfterInterruptedTryLock)', async () => {
    const { mine, theirs, key } = stage();
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = mine.mutex(key).acquire({ signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      abort.abort(new Error('never mind'));
      await expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    }
    await using next = await theirs.mutex(key).acquire({ wait: 10_000 });
    expect(next.isHeld).toBe(true);
  });

  it('rejects, and delays nothing, while the connection is closed by its user', async () => {
    const { key } = stage();
    const connection = stage().connection();
    const client = await stage().client({ client: connection });
    const lease = await client.mutex(key).acquire({ lease: 300 });
    const closed = once(connection, 'end');
    connection.disconnect();
    await closed;

    const startedAt = performance.now();
    const refused = client.mutex(`${key}-2`).acquire();
    await expect(refused).rejects.toBeInstanceOf(LockConnectionError);
    await lease.release();
    expect(performance.now() - startedAt).toBeLessThan(1_000);

    await connection.connect();
    await using next = await client.mutex(`${key}-2`).acquire();
    expect(next.isHeld).toBe(true);
  });

  it('does not delay the close of a client after its connection was closed', async () => {
    const connection = stage().connection();
    const client = await stage().client({ client: connection });
    await client.mutex(stage().key).acquire({ lease: 300 });
    connection.disconnect();
    const startedAt = performance.now();
    await client.close();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('needs one connection for the messages of all locks (Redisson: RedissonLockTest testSinglePubSub)', async () => {
    const { mine, theirs, key } = stage();
    const keys = ['a', 'b', 'c'].map((each) => `{${key}}:${each}`);
    const held = await Promise.all(keys.map((each) => mine.mutex(each).acquire()));
    const waiting = await Promise.all(
      keys.map((each) => stage().queue(theirs, theirs.mutex(each))),
    );
    for (const each of keys) await stage().listening(`redisson_lock__channel:${each}`);
    expect(await subscribers()).toEqual([1]);

    for (const index of [1, 2, 0]) {
      await held[index]!.release();
      await using next = await waiting[index]!.lease;
      expect(next.key).toBe(keys[index]);
    }
  });

  it('is contended under many keys at once, over one connection for messages (Redisson: RedissonLockTest testSubscriptionsPerConnection)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 50 }, (_, n) => `${key}-${n}`);
    const users = [mine, theirs, mine, theirs, mine];
    const visits = keys.flatMap((each) => users.map((user) => user.mutex(each).using(() => each)));
    expect((await Promise.all(visits)).length).toBe(250);
    for (const count of await subscribers()) expect(count).toBeLessThanOrEqual(2);
    await stage().isEmpty();
  });

  it('loses no update of tasks of one client (Redisson: RedissonLockTest testConcurrency_SingleInstance)', async () => {
    expect(await updates([stage().mine], 16, 1)).toBe(16);
  });

  it('loses no update of tasks of several clients, again and again (Redisson: RedissonLockTest testConcurrencyLoop_MultiInstance)', async () => {
    const others = await Promise.all([1, 2].map(() => stage().client()));
    expect(await updates([stage().mine, stage().theirs, ...others], 4, 10)).toBe(160);
  });

  it('loses no update of many clients (Redisson: RedissonLockTest testConcurrency_MultiInstance)', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => stage().client()));
    expect(await updates(clients, 1, 1)).toBe(12);
  });

  it('leaves nothing to be renewed when many acquire and release it (Redisson: RedissonLockTest testConcurrencyTryLockUnLock)', async () => {
    const { key } = stage();
    const client = await stage().client({ watchdogTimeout: 1_000 });
    let granted = 0;
    const task = async () => {
      for (let time = 0; time < 100; time++) {
        const lease = await client.mutex(key).tryAcquire();
        if (lease === undefined) continue;
        granted += 1;
        expect(lease.isHeld).toBe(true);
        await lease.release();
      }
    };
    await Promise.all(Array.from({ length: 16 }, task));
    expect(granted).toBeGreaterThanOrEqual(100);

    const log = await stage().log();
    await using _ = await client.mutex(`{${key}}:other`).acquire();
    await eventually('another lock was renewed', async () =>
      renewals().then((all) => all.length > 2),
    );
    expect((await renewals()).filter((line) => line.includes(`"${key}"`))).toEqual([]);

    async function renewals(): Promise<string[]> {
      return log.commands(lockRenew.sha1);
    }
  });

  /** Has each of those clients add one that many times, by reading and writing; resolves to the final sum. */
  async function updates(
    clients: readonly RedisLockClient[],
    tasks: number,
    times: number,
  ): Promise<number> {
    const { key } = stage();
    const sum = `{${key}}:sum`;
    const store = stage().connection();
    const task = async (client: RedisLockClient) => {
      for (let time = 0; time < times; time++)
        await client.mutex(key).using(async () => {
          const before = Number(await store.get(sum));
          await store.set(sum, before + 1);
        });
    };
    const work = clients.flatMap((client) => Array.from({ length: tasks }, () => task(client)));
    await Promise.all(work);
    return Number(await store.getdel(sum));
  }

  /** Number of subscribed connections, for each server that has some. */
  async function subscribers(): Promise<number[]> {
    const lists = (await stage().commands('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string[];
    return lists
      .map((list) => list.split('\n').filter((line) => line.startsWith('id=')).length)
      .filter(Boolean);
  }
}
