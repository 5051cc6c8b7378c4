import { once } from 'node:events';
import { describe, expect } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import {
  type BackOff,
  ConstantBackOff,
  ExponentialBackOff,
} from '../../lib/redis/locks/back-off.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockAcquire, lockRenew } from '../../lib/redis/scripts/index.js';
import { earliest, eventually } from '../support/time.js';
import { MUTEXES, type Of } from './mutex.suite.js';
import { isGranted, type OnRedis } from './support/redis-stage.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message. */
const LONG_LEASE = 600_000;

/** How clients wait for a mutex, and what ends a wait. */
export function mutexWaitingSuite(on: OnRedis): void {
  const { it, test, stage } = on;

  describe.each(MUTEXES)('for a %s', (_, of) => waitingForKind(on, of));

  test('wakes a waiter by a message, long before the lease is over', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await stage().queue(theirs);
    await stage().listening(stage().names.channel);
    await lease.release();
    await isGranted(waiting);
  });

  test('names a holder of Redisson by its id, and one that says too much about itself too', async () => {
    const { mine, key } = stage();
    const id = 'b983c153-7421-469a-addb-44fb92259a1b:47';
    const timeOut = async () => {
      const error = await mine
        .mutex(key)
        .acquire({ wait: 100 })
        .catch((it: unknown) => it);
      return (error as LockTimeoutError).holder;
    };
    await stage().command('HSET', key, id, 1);
    expect(await eventually('it is seen', timeOut)).toEqual({ id, mode: 'alone' });
    const about = JSON.stringify({ host: 'web-1', pid: 1, method: 'x'.repeat(300), since: 1 });
    await stage().command('HSET', key, 'nestjs-interlock', about);
    expect(await eventually('it is seen', timeOut)).toEqual({ id, mode: 'alone' });
    await stage().command('DEL', key);
  });

  test('rejects, and delays nothing, while the connection is closed by its user', async () => {
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
    expect(performance.now() - startedAt).toBeLessThan(3_000);

    await connection.connect();
    await isGranted(client.mutex(`${key}-2`).acquire());
  });

  test('does not delay the close of a client after its connection was closed', async () => {
    const connection = stage().connection();
    const client = await stage().client({ client: connection });
    await client.mutex(stage().key).acquire({ lease: 300 });
    connection.disconnect();
    const startedAt = performance.now();
    await client.close();
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  test('needs one connection for the messages of all locks (Redisson: RedissonLockTest testSinglePubSub)', async () => {
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

  test('is contended under many keys at once, over one connection for messages (Redisson: RedissonLockTest testSubscriptionsPerConnection)', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 50 }, (_, n) => `${key}-${n}`);
    const users = [mine, theirs, mine, theirs, mine];
    const visits = keys.flatMap((each) => users.map((user) => user.mutex(each).using(() => each)));
    expect((await Promise.all(visits)).length).toBe(250);
    for (const count of await subscribers()) expect(count).toBeLessThanOrEqual(2);
    await stage().isEmpty();
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

  /** Number of subscribed connections, for each server that has some. */
  async function subscribers(): Promise<number[]> {
    const lists = (await stage().commands('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string[];
    return lists
      .map((list) => list.split('\n').filter((line) => line.startsWith('id=')).length)
      .filter(Boolean);
  }
}

/** What ends a wait, of each kind that is waited for. */
function waitingForKind({ it, stage }: OnRedis, of: Of): void {
  it('ends as late as requested, and takes nothing (Redisson: RedissonLockTest testTryLockWait) (Redisson: RedissonFairLockTest testTryLockWait) (Redisson: RedissonSpinLockTest testTryLockWait) (Redisson: RedissonSpinLockTest testTryLockAsyncWaitTime)', async () => {
    const { mine, theirs, key } = stage();
    const held = await of(mine, key).acquire();
    const startedAt = performance.now();
    const { lease: late } = await stage().queue(theirs, of(theirs, key), { wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitedMs: 300, key });
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(2_000);
    await held.release();
    await eventually('nothing is left', async () => (await stage().keys()).length === 0);
  });

  it('ends with the lease of the holder, which is not held again after that (Redisson: RedissonLockTest testExpire) (Redisson: RedissonFairLockTest testExpire) (Redisson: RedissonSpinLockTest testExpire)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await of(theirs, key).acquire({ lease: 500 });
    const startedAt = performance.now();
    await using next = await of(mine, key).acquire({ wait: 5_000 });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    await lease.release();
    expect((await of(mine, key).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('ends one watchdogTimeout after the holder has died (Redisson: RedissonLockTest testAutoExpire) (Redisson: RedissonSpinLockTest testAutoExpire)', async () => {
    const { mine, key } = stage();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection, watchdogTimeout: 400 });
    const lease = await of(dying, key).acquire();
    connection.disconnect();
    await using next = await of(mine, key).acquire({ wait: 5_000 });
    expect([next.isHeld, lease.isHeld]).toEqual([true, false]);
  });

  it('does not end while the holder renews its lease', async () => {
    const { mine, key } = stage();
    const client = await stage().client({ watchdogTimeout: 900 });
    await using lease = await of(client, key).acquire();
    await expect(of(mine, key).acquire({ wait: 1_400 })).rejects.toThrow(LockTimeoutError);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
  });

  it('goes on for others when one is aborted (Redisson: RedissonLockTest testLockUninterruptibly) (Redisson: RedissonSpinLockTest testLockUninterruptibly)', async () => {
    const { mine, theirs, key } = stage();
    const held = await of(mine, key).acquire();
    const abort = new AbortController();
    const impatient = await stage().queue(theirs, of(theirs, key), { signal: abort.signal });
    const patient = await stage().queue(theirs, of(theirs, key));
    abort.abort(new Error('enough'));
    await expect(impatient.lease).rejects.toBeInstanceOf(LockAbortedError);

    await held.release();
    await isGranted(patient.lease);
  });

  it('ends soon after the release, for a caller with a bounded wait too (Redisson: RedissonSpinLockTest testTryLockAsync) (Redisson: RedissonSpinLockTest testTimedTryLockAsync)', async () => {
    const { mine, theirs, key } = stage();
    for (const options of [{}, { wait: 10_000, lease: 60_000 }]) {
      const held = await of(mine, key).acquire();
      const { lease: waiting } = await stage().queue(theirs, of(theirs, key), options);
      await held.release();
      const releasedAt = performance.now();
      await using next = await waiting;
      expect(performance.now() - releasedAt).toBeLessThan(5_000); // Redisson allows 200 ms; here the machine may stall, and the lease would end after 30 s
      expect(next.isHeld).toBe(true);
      expect(next.remaining() > 50_000).toBe('lease' in options);
    }
  });

  it('leaves nothing held or renewed of a caller that aborts during its acquire (Redisson: RedissonLockTest testLockIsNotRenewedAfterInterruptedTryLock)', async () => {
    const { mine, theirs, key } = stage();
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = of(mine, key).acquire({ signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      abort.abort(new Error('never mind'));
      await expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    }
    await isGranted(of(theirs, key).acquire({ wait: 10_000 }));
  });
}

/** How a waiter polls a spin lock, and how often. */
export function spinLockSpinningSuite({ it, stage }: OnRedis): void {
  it('is waited for and released without a message', async () => {
    const { mine, theirs, key } = stage();
    const log = await stage().log();
    const lease = await mine.spinLock(key).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key));
    await lease.release();
    await (await waiting).release();
    expect(await log.published(key)).toEqual([]);
    expect(await log.commands('subscribe" "redisson')).toEqual([]);
  });

  it('is a hash like that of a mutex, and nothing else', async () => {
    const { mine, key } = stage();
    await using lease = await mine.spinLock(key).acquire({ lease: 5_000 });
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().fields(key)).toMatchObject({ [lease.holder]: '1' });
    expect(await stage().command('PTTL', key)).toBeGreaterThan(3_000);
  });

  it('is polled after the delays of the policy', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG_LEASE });
    const backOff = new Counting(new ExponentialBackOff({ initialDelay: 20, maxDelay: 80 }));
    const startedAt = performance.now();
    const waiting = theirs.spinLock(key, { backOff }).acquire();
    await eventually('it has asked often', () => backOff.delaysGiven.length >= 6);
    const [next, ...slept] = backOff.delaysGiven.toReversed();
    expect(next).toBe(80);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(sum(slept) - slept.length);
    await lease.release();
    await (await waiting).release();
    expect(backOff.begun).toBe(1);
  });

  it('takes its delays from an object of the user', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG_LEASE });
    const backOff = new Counting({ delays: () => () => 7 });
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key, { backOff }));
    await eventually('it has asked', () => backOff.delaysGiven.length >= 3);
    await lease.release();
    await isGranted(waiting);
  });

  it("is polled at the end of its holder's lease, however long the delay", async () => {
    const { mine, theirs, key } = stage();
    const backOff = new ConstantBackOff(LONG_LEASE);
    for (let time = 0; time < 8; time++) {
      await mine.spinLock(key).acquire({ lease: 100 });
      await isGranted(theirs.spinLock(key, { backOff }).acquire({ wait: 5_000 }));
    }
  }, 30_000);

  it('is polled by only one caller of a process, however many wait', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG_LEASE });
    const backOff = new Counting(new ConstantBackOff(20));
    const spin = theirs.spinLock(key, { backOff });
    const log = await stage().log();
    const waiting = Array.from({ length: 30 }, () => spin.acquire());
    await eventually('it was asked often', async () => (await asked()).length >= 10);
    expect(new Set(await asked()).size).toBe(1);
    expect(backOff.begun).toBe(1);

    await lease.release();
    for (const each of waiting) await (await each).release(); // in the order of arrival
    expect(backOff.delaysGiven.length).toBeGreaterThanOrEqual(9);

    /** The owner that polled the lock, at each time. */
    async function asked(): Promise<string[]> {
      const sent = await log.commands(`"${lockAcquire.sha1}"`);
      return sent.map((line) => /"([0-9a-f-]{36}:\d+)"/.exec(line)![1]!);
    }
  });

  it('is polled no more often than its policy allows, in a second', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire({ lease: LONG_LEASE });
    const log = await stage().log();
    const backOff = new ConstantBackOff(100, () => 0); // at least 75 ms
    const late = theirs.spinLock(key, { backOff }).acquire({ wait: 1_000 });
    await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const asked = await log.commands(`"${lockAcquire.sha1}"`);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(15);
  });

  it.each([null, 5, 'exponential', {}, { delays: 64 }])('rejects %p as a policy', (backOff) => {
    const { mine, key } = stage();
    const make = () => mine.spinLock(key, { backOff: backOff as never });
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(expect.objectContaining({ option: 'backOff', key }));
  });

  it('is not polled any more once the acquire is aborted, or its client closes', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire();
    const abort = new AbortController();
    const options = { signal: abort.signal };
    const aborted = await stage().queue(theirs, theirs.spinLock(key), options);
    abort.abort();
    await expect(aborted.lease).rejects.toBeInstanceOf(LockAbortedError);
    const closed = await stage().queue(theirs, theirs.spinLock(key));
    await theirs.close();
    await expect(closed.lease).rejects.toBeInstanceOf(LockClientClosedError);

    const log = await stage().log();
    const other = await stage().client();
    await expect(other.spinLock(key).acquire({ wait: 300 })).rejects.toThrow(LockTimeoutError);
    const sent = await log.commands('"evalsha"');
    const owners = sent.map((line) => /"([0-9a-f-]{36}):\d+"/.exec(line)?.[1]).filter(Boolean);
    expect(new Set(owners).size).toBe(1); // only the other client
  });
}

/** What a multi-lock promises on Redis beyond what it promises anywhere (`test/contract`): one script for one slot. */
export function multiLockSuite({ it, test, stage }: OnRedis): void {
  /** Keys of one slot. */
  const keys = () => ['a', 'b', 'c'].map((part) => `{${stage().key}}:${part}`);
  const multiOf = (client: RedisLockClient) =>
    client.multiLock(keys().map((key) => client.mutex(key)));

  test('is acquired with one script where all keys lie in one slot', async () => {
    const { mine } = stage();
    const log = await stage().log();
    await using lease = await multiOf(mine).acquire();
    expect(lease.isHeld).toBe(true);
    const sent = await log.commands(`"${lockAcquire.sha1}"`);
    expect(sent.length).toBe(1);
    for (const key of keys()) expect(sent[0]).toContain(`"${key}"`);
    expect(await stage().keys()).toEqual(keys());
  });

  test('is held by the same owner in each of its parts, with the whole lease at the end', async () => {
    const client = await stage().client({ watchdogTimeout: 20_000 });
    const held = await stage().theirs.mutex(keys()[2]!).acquire();
    const waiting = multiOf(client).acquire();
    await stage().listening(`redisson_lock__channel:${keys()[2]}`);
    for (const key of keys().slice(0, 2)) expect(await stage().command('EXISTS', key)).toBe(0); // all or none
    await held.release();
    await using lease = await waiting;

    const owners = await Promise.all(keys().map((key) => client.mutex(key).holders()));
    expect(new Set(owners.flat().map(({ id }) => id)).size).toBe(1);
    for (const key of keys()) expect(await stage().command('PTTL', key)).toBeGreaterThan(15_000);
    expect(lease.leases).toHaveLength(3);
  });

  it('is renewed in all of its parts', async () => {
    const client = await stage().client({ watchdogTimeout: 900 });
    const lease = await multiOf(client).acquire();
    const startedAt = performance.now();
    await eventually('the first lease is over', () => performance.now() - startedAt > 1_400);
    expect(lease.isHeld).toBe(true);
    for (const key of keys()) expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
    await lease.release();
  });

  test('wakes a waiter of one of its parts, and is woken by that part', async () => {
    const { mine, theirs } = stage();
    const lease = await multiOf(mine).acquire();
    const [part] = keys();
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(part!));
    await stage().listening(`redisson_lock__channel:${part}`);
    await lease.release();
    const single = await waiting;
    const whole = multiOf(mine).acquire({ wait: 20_000 });
    await stage().listening(`redisson_lock__channel:${part}`);
    await single.release();
    await (await whole).release();
  });

  test('is acquired one part after the other where its keys lie in several slots', async () => {
    const { mine, theirs, key } = stage();
    const names = Array.from({ length: 12 }, (_, n) => `${key}-${String(n).padStart(2, '0')}`);
    const multi = (client: RedisLockClient) =>
      client.multiLock(names.map((name) => client.mutex(name)));
    const lease = await multi(mine).acquire();
    expect(await stage().keys()).toEqual(names);
    expect(await multi(theirs).tryAcquire()).toBeUndefined();
    await lease.release();
    await isGranted(multi(theirs).tryAcquire());
  });
}

/** A policy that records its calls. */
class Counting implements BackOff {
  begun = 0;
  readonly delaysGiven: number[] = [];

  constructor(private readonly policy: BackOff) {}

  delays(): () => number {
    this.begun += 1;
    const next = this.policy.delays();
    return () => {
      const delay = next();
      this.delaysGiven.push(delay);
      return delay;
    };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
