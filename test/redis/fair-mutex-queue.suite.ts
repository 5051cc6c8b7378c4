import { beforeEach, expect } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import type { Script } from '../../lib/redis/connection/script.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { fairLockAcquire, fairLockRelease } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import {
  fairQueue,
  type FairQueue,
  RedissonFairWaiters,
  WaitersOnServer,
} from './support/fair-queue.js';
import { commandCalls, type OnRedis } from './support/redis-stage.js';

/** Commands that change a queue. */
const WRITES = 'z(add|incrby|rem)|l(rem|pop|trim)|rpush|del';
/** How many dead waiters one call removes at most. */
const AT_ONCE = 1_000;
/** Many more, so that it takes several calls. */
const MANY = 2_500;
/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const SOON = 5_000;

/** Whole pods that die in the queue, and what the removal of their waiters costs the server. */
export function fairLockDeadWaitersSuite({ it, test, stage }: OnRedis): void {
  let waiters: WaitersOnServer;

  beforeEach(() => {
    waiters = new WaitersOnServer(stage());
  });

  it('causes few writes for many dead waiters, and removes a limited number at a time', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    await waiters.ours('dead', MANY);
    await waiters.ours('alive', 3);
    await waiters.kill('dead');
    await stage().command('CONFIG', 'RESETSTAT');
    for (const left of [MANY - AT_ONCE, MANY - 2 * AT_ONCE, 0]) {
      expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
      expect(await waiters.count()).toBe(left + 3);
    }
    expect(await commandCalls(stage(), WRITES)).toBeLessThan(MANY / 10);
    expect(await stage().command('ZCARD', waiters.alive)).toBe(3);
    expect(await stage().command('ZCARD', stage().names.timeouts)).toBe(3);
    await clear();
    await lease.release();
  });

  it('subtracts one wait per dead waiter from those behind it, and none from those ahead', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    for (const part of [1, 2, 3]) {
      await waiters.ours(`dead ${part}`, 400 * part);
      await waiters.ours(`alive ${part}`, 2);
    }
    const { waiters: line, deadlines } = await fairQueue(stage());
    await waiters.kill('dead');
    await eventually('the dead are out', async () => {
      expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
      return (await waiters.count()) === 6;
    });
    const living = [1, 2, 3].flatMap((part) => [`alive ${part}:1`, `alive ${part}:2`]);
    const deadAhead = [400, 400, 1_200, 1_200, 2_400, 2_400];
    const after = await fairQueue(stage());
    expect(after.waiters).toEqual(living);
    expect(after.deadlines).toEqual(
      living.map((waiter, i) => deadlines[line.indexOf(waiter)]! - deadAhead[i]! * WAIT),
    );
    await clear();
    await lease.release();
  });

  test('skips all of them at the release, however many', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    await waiters.ours('dead', MANY);
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    const [waiter] = (await fairQueue(stage())).waiters.slice(-1);
    await stage().listening(stage().names.waiterChannel(waiter!));
    await waiters.kill('dead');
    const begin = performance.now();
    await lease.release();
    const held = await next;
    expect(performance.now() - begin).toBeLessThan(SOON);
    await held.release();
  });

  it('looks again at once until the last dead one is out', async () => {
    const { mine, key } = stage();
    await waiters.ours('dead', MANY);
    await waiters.kill('dead');
    const begin = performance.now();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(SOON);
    await lease.release();
  });

  it('drops overdue waiters of Redisson a limited number at a time, and looks again at once', async () => {
    const { mine, key } = stage();
    await waiters.overdue('redisson', MANY);
    expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters.count()).toBe(MANY - AT_ONCE);
    const begin = performance.now();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(SOON);
    await lease.release();
  });

  it('forgets dead waiters that Redisson has dropped from the queue', async () => {
    const { mine, key } = stage();
    const { queue, timeouts } = stage().names;
    const lease = await mine.mutex(key, FAIR).acquire();
    await waiters.ours('alive', 1);
    await waiters.ours('dead', 1);
    await stage().command('LREM', queue, 1, 'dead:1');
    await stage().command('ZREM', timeouts, 'dead:1');
    await waiters.kill('dead');
    expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await stage().command('ZRANGE', waiters.alive, 0, -1)).toEqual(['alive:1']);
    await clear();
    await lease.release();
  });

  it('remembers each waiter until its deadline, although those ahead of it look again', async () => {
    const { theirs, key } = stage();
    const client = await stage().client({ watchdogTimeout: 600 });
    const lease = await theirs.mutex(key, FAIR).acquire();
    const stop = new AbortController();
    await stage().queue(client, client.mutex(key, FAIR), { signal: stop.signal });
    const [first] = (await fairQueue(stage())).waiters;
    const { lease: second } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    const heardOf = () => stage().command('ZSCORE', waiters.alive, first!);
    const before = await heardOf();
    await eventually('the first has looked again', async () => (await heardOf()) !== before);
    const { now, deadlines } = await fairQueue(stage());
    const known = Number(await stage().command('PTTL', waiters.alive));
    expect(known).toBeGreaterThan(deadlines[1]! - now - 1_000); // ms: the two looks are not at once
    stop.abort();
    await lease.release();
    await (await second).release();
  });

  /** No client cleans up after the waiters that were added. */
  async function clear(): Promise<void> {
    const { queue, timeouts } = stage().names;
    await stage().command('DEL', queue, timeouts, waiters.alive);
  }
}

const OWNER = 'b983c153-7421-469a-addb-44fb92259a1b:1';
const OTHER = 'b983c153-7421-469a-addb-44fb92259a1b:2';
const LIFE = 30_000;

/** A copy of a command may arrive long after the command, and after later ones. */
export function fairLockLateCopiesSuite({ it, test, stage }: OnRedis): void {
  it('an acquire never shortens the lease of its holder', async () => {
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await acquire(OWNER, { lease: 60_000 })).toEqual([1, 0]);
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await stage().command('PTTL', stage().key)).toBeGreaterThan(50_000);
    await stage().command('PERSIST', stage().key);
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await stage().command('PTTL', stage().key)).toBe(-1);
    await release(OWNER);
  });

  test('an acquire takes nothing, and queues nowhere, for a holder that has given up', async () => {
    await acquire(OWNER);
    await release(OWNER, gone(OWNER));
    expect(await stage().command('PTTL', gone(OWNER))).toBeGreaterThan(LIFE);
    await expect(acquire(OWNER)).rejects.toThrow('GONE');
    expect(await left()).toBe(0);

    expect(await acquire(OTHER)).toEqual([1, 0]);
    await expect(acquire(OWNER, { mayWait: true })).rejects.toThrow('GONE');
    expect((await fairQueue(stage())).waiters).toEqual([]);
    const answer = (await acquire(OWNER)) as unknown[]; // an acquire that takes nothing anyway
    expect(answer.slice(0, 2)).toEqual([0, expect.any(Number)]);
    await release(OTHER);
    await stage().command('DEL', gone(OWNER));
  });

  it('an acquire takes nothing for a waiter that has left the queue', async () => {
    await acquire(OTHER);
    await acquire(OWNER, { mayWait: true });
    await release(OWNER, gone(OWNER));
    expect((await fairQueue(stage())).waiters).toEqual([]);
    await release(OTHER);
    await expect(acquire(OWNER, { mayWait: true })).rejects.toThrow('GONE');
    expect(await left()).toBe(0);
    await stage().command('DEL', gone(OWNER));
  });

  it('a release that is certain of what it sent leaves nothing behind', async () => {
    await acquire(OWNER);
    expect(await release(OWNER)).toBe(0);
    expect([await left(), await stage().command('EXISTS', gone(OWNER))]).toEqual([0, 0]);
    expect(await release(OWNER)).toBe(-1);
  });

  /** How many keys of the lock and its queue there are. */
  function left(): Promise<unknown> {
    const { redisKey: raw, queue, timeouts, alive } = new LockName(stage().key);
    return stage().command('EXISTS', raw, queue, timeouts, alive);
  }

  function gone(holder: string): string {
    return new LockName(stage().key).gone(holder);
  }

  function acquire(holder: string, { lease = 30_000, mayWait = false } = {}): Promise<unknown> {
    const args = [lease, holder, '', WAIT, LIFE, mayWait ? 1 : 0, stage().publish, channel()];
    return run(fairLockAcquire, ...args, gone(holder));
  }

  function release(holder: string, tombstone = ''): Promise<unknown> {
    return run(fairLockRelease, holder, stage().publish, channel(), WAIT, tombstone);
  }

  function run({ source }: Script, ...args: (string | number)[]): Promise<unknown> {
    const { redisKey: raw, queue, timeouts, alive } = new LockName(stage().key);
    return stage().command('EVAL', source, 4, raw, queue, timeouts, alive, ...args);
  }

  const channel = () => stage().names.channel;
}

const FAIR = { fair: true };
/** Wait that all clients add and subtract by default, in ms. */
const WAIT = 300_000;
/** A lease that is not renewed, in ms, so that deadlines do not depend on the time of a look. */
const LEASE = 60_000;
/** Far below both, in ms: a waiter may look once more, which makes its deadline a little later. */
const NEAR = 10_000;
/** Rounding: the server counts whole milliseconds. */
const ROUNDING = 3;

/** The queue in Redisson's layout, with the deadlines that Redisson uses. */
export function fairLockArithmeticSuite({ it, test, stage }: OnRedis): void {
  test('keeps holder, queue, deadlines and messages where Redisson has them', async () => {
    const { mine, names, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire({ lease: LEASE });
    expect(await stage().fields(names.hash)).toMatchObject({ [lease.holder]: '1' });
    const { lease: second } = await queue(mine);
    const { lease: third } = await queue(mine);

    const { waiters } = await fairQueue(stage());
    expect(await stage().command('LRANGE', names.queue, 0, -1)).toEqual(waiters);
    expect(await stage().command('ZRANGE', names.timeouts, 0, -1)).toEqual(waiters);
    for (const waiter of waiters) await stage().listening(names.waiterChannel(waiter));

    const log = await stage().log();
    await lease.release();
    const holders = [];
    for (const granted of [second, third]) {
      const held = await granted;
      holders.push(held.holder);
      await held.release();
    }
    expect(holders).toEqual(waiters);
    const { publish } = stage();
    const messages = waiters.map((waiter) => `${publish} ${names.waiterChannel(waiter)} 0`);
    expect([...new Set(await log.published(key))]).toEqual(messages);
    expect(await stage().keys()).toEqual([]);
  });

  test('has the prefix of its client in the names of its queue (Redisson: RedissonFairLockTest testNameMapper)', async () => {
    const { key } = stage();
    const client = await stage().client({ prefix: 'app:' });
    const lease = await client.mutex(key, FAIR).acquire();
    const { lease: waiting } = await stage().queue(client, client.mutex(key, FAIR));
    const names = ['interlock_alive', 'redisson_lock_queue', 'redisson_lock_timeout'];
    expect(await stage().keys()).toEqual([
      `app:${key}`,
      ...names.map((name) => `${name}:{app:${key}}`),
    ]);
    await lease.release();
    await (await waiting).release();
  });

  it('gives each waiter one wait more than the one before it, counted from the end of the lease', async () => {
    await using _ = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const redisson = new RedissonFairWaiters(stage());
    const stop = new AbortController();
    await queue(stage().mine, stop.signal);
    await redisson.acquire('waiter:1');
    await queue(stage().theirs, stop.signal);

    const { now, ttl, deadlines } = await fairQueue(stage());
    expectNear(
      deadlines,
      [1, 2, 3].map((waits) => now + ttl + waits * WAIT),
    );
    stop.abort();
    await redisson.giveUp('waiter:1');
  });

  it('subtracts one wait from the waiters behind a granted one, with one of Redisson among them (Redisson: RedissonFairLockTest testLockAcquiredTimeoutDrift_Descrete)', async () => {
    const lease = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const stop = new AbortController();
    const { lease: granted } = await queue(stage().theirs);
    for (let n = 0; n < 2; n++) await queue(stage().mine, stop.signal);
    const redisson = new RedissonFairWaiters(stage());
    await redisson.acquire('redisson:1');
    const before = await fairQueue(stage());
    await lease.release();
    await using _ = await granted;

    const after = await fairQueue(stage());
    expect(after.waiters).toEqual(before.waiters.slice(1));
    expectNear(
      after.deadlines,
      before.deadlines.slice(1).map((deadline) => deadline - WAIT),
    );
    stop.abort();
    await redisson.giveUp('redisson:1');
  });

  it('subtracts the waits from the last deadline alone, while all waiters are ours', async () => {
    const lease = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const [stop, leave] = [new AbortController(), new AbortController()];
    const { lease: granted } = await queue(stage().theirs);
    for (let n = 0; n < 3; n++) await queue(stage().mine, stop.signal);
    await queue(stage().theirs, leave.signal);
    const before = await fairQueue(stage());
    await lease.release();
    await using _ = await granted;
    const [second, third, fourth, fifth] = before.deadlines.slice(1);
    const after = await fairQueue(stage());
    expectNear(after.deadlines, [second!, third!, fourth!, fifth! - WAIT]);

    leave.abort();
    const { now, ttl, deadlines } = await waiting(3);
    expectNear(deadlines, [second!, third!, now + ttl + 3 * WAIT]);
    const redisson = new RedissonFairWaiters(stage());
    await redisson.acquire('redisson:1'); // so it is waited for no longer than if it came behind exact deadlines
    expectNear((await fairQueue(stage())).deadlines.slice(-1), [now + ttl + 4 * WAIT]);
    await redisson.giveUp('redisson:1');
    stop.abort();
  });

  it('sends as many commands to the queue when 200 wait as when 20 do', async () => {
    const { redisKey, queue: list, timeouts, alive } = new LockName(stage().key);
    const cost = async (count: number) => {
      const ids = Array.from({ length: count }, (_, n) => `ours:${n}`);
      for (const [n, id] of ids.entries()) {
        await stage().command('RPUSH', list, id);
        await stage().command('ZADD', timeouts, Date.now() + (n + 1) * WAIT, id);
        await stage().command('ZADD', alive, Date.now() + LEASE, id);
      }
      await stage().command('CONFIG', 'RESETSTAT');
      const { publish, names } = stage();
      for (const id of ids.slice(0, 5)) {
        const keys = [4, redisKey, list, timeouts, alive];
        const gone = `interlock_gone:{${stage().key}}:${id}`;
        const take = [LEASE, id, '', WAIT, LEASE, 1, publish, names.channel, gone];
        await stage().command('EVAL', fairLockAcquire.source, ...keys, ...take);
        const give = [id, publish, names.channel, WAIT, ''];
        await stage().command('EVAL', fairLockRelease.source, ...keys, ...give);
      }
      const calls = await commandCalls(stage(), 'zadd|lrange|zincrby|zrem');
      await stage().command('DEL', list, timeouts, alive);
      return calls;
    };
    expect(await cost(200)).toBe(await cost(20));
  });

  it('subtracts one wait from the waiters behind one that gives up, with one of Redisson among them (Redisson: RedissonFairLockTest testAcquireFailedTimeoutDrift_Descrete)', async () => {
    await using _ = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const [stop, leave] = [new AbortController(), new AbortController()];
    await queue(stage().mine, stop.signal);
    await queue(stage().theirs, leave.signal);
    await queue(stage().mine, stop.signal);
    const redisson = new RedissonFairWaiters(stage());
    await redisson.acquire('redisson:1');
    const before = await fairQueue(stage());
    leave.abort();

    const after = await waiting(3);
    const [first, , third, fourth] = before.deadlines as [number, number, number, number];
    expectNear(after.deadlines, [first, third - WAIT, fourth - WAIT]);
    expect(after.waiters).toEqual(before.waiters.filter((_, place) => place !== 1));
    stop.abort();
    await redisson.giveUp('redisson:1');
  });

  it('subtracts one wait from the waiters behind a dead one', async () => {
    const { mine, theirs, names, key } = stage();
    await using _ = await mine.mutex(key, FAIR).acquire({ lease: LEASE });
    await new RedissonFairWaiters(stage()).acquire('dead:1');
    const stop = new AbortController();
    for (let n = 0; n < 2; n++) await queue(mine, stop.signal);
    const before = await fairQueue(stage());
    const alive = names.queue.replace('redisson_lock_queue', 'interlock_alive');
    await stage().command('ZADD', alive, before.now, 'dead:1'); // as one of ours that was alive until now
    expect(await theirs.mutex(key, FAIR).tryAcquire()).toBeUndefined();

    const after = await fairQueue(stage());
    expect(after.waiters).toEqual(before.waiters.slice(1));
    expectNear(
      after.deadlines,
      before.deadlines.slice(1).map((deadline) => deadline - WAIT),
    );
    stop.abort();
  });

  it('leaves the queue as it is after a tryAcquire (Redisson: RedissonFairLockTest testLockAcquiredBooleanTimeoutDrift_Descrete)', async () => {
    const { theirs, key } = stage();
    await using _ = await stage().mine.mutex(key, FAIR).acquire({ lease: LEASE });
    const stop = new AbortController();
    for (let n = 0; n < 2; n++) await queue(stage().mine, stop.signal);
    const before = await fairQueue(stage());
    for (let n = 0; n < 5; n++) expect(await theirs.mutex(key, FAIR).tryAcquire()).toBeUndefined();

    const after = await fairQueue(stage());
    expect(after.waiters).toEqual(before.waiters);
    expectNear(after.deadlines, before.deadlines);
    stop.abort();
  });

  it('lets no deadline drift when waits time out (Redisson: RedissonFairLockTest testWaitTimeoutDrift)', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.mutex(key, FAIR).acquire({ lease: LEASE });
    const redisson = new RedissonFairWaiters(stage());
    await redisson.acquire('dead:1');
    for (let round = 0; round < 10; round++) {
      const inVain = [1, 2, 3, 4, 5].map(() => theirs.mutex(key, FAIR).acquire({ wait: 25 }));
      const outcomes = await Promise.allSettled(inVain);
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ reason: expect.any(LockTimeoutError) });
    }
    const stop = new AbortController();
    await waiting(1);
    await queue(mine, stop.signal);
    const { now, ttl, deadlines } = await fairQueue(stage());
    expectNear(deadlines, [now + ttl + WAIT, now + ttl + 2 * WAIT]);
    stop.abort();
    await redisson.giveUp('dead:1');
  });

  it('lets no deadline drift when the lock is granted (Redisson: RedissonFairLockTest testLockAcquiredTimeoutDrift)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire({ lease: LEASE });
    const stop = new AbortController();
    let { lease: next } = await queue(theirs);
    await lease.release();
    for (let round = 0; round < 30; round++) {
      const held = await next; // the queue is never empty, so no deadline restarts
      ({ lease: next } = await queue(round % 2 === 0 ? mine : theirs));
      const { now, ttl, deadlines } = await fairQueue(stage());
      expectNear(deadlines, [now + ttl + WAIT]);
      await held.release();
    }
    await (await next).release();
    stop.abort();
  });

  it('keeps every deadline far enough away for what waiters of Redisson will subtract', async () => {
    const { names, key } = stage();
    const client = await stage().client({ watchdogTimeout: 1_500 });
    const redisson = new RedissonFairWaiters(stage());
    const first = await client.mutex(key, FAIR).acquire({ lease: LEASE });

    await redisson.acquire('redisson:1', { wait: 2 * WAIT });
    const { lease: third } = await queue(client);
    await redisson.acquire('redisson:2');
    const { lease: fifth } = await queue(client);
    await expectSafe();

    await first.release();
    expect(await redisson.acquire('redisson:1', { wait: 2 * WAIT, lease: 2 * LEASE })).toBe(true);
    await expectSafe();

    await stage().command('DEL', names.hash);
    const held = await third; // no message came: the waiter looks by itself
    await expectSafe();

    await held.release();
    expect(await redisson.acquire('redisson:2')).toBe(true);
    await expectSafe();

    await stage().command('DEL', names.hash);
    await (await fifth).release();
  });

  function queue(client: RedisLockClient, signal?: AbortSignal) {
    return stage().queue(client, client.mutex(stage().key, FAIR), { lease: LEASE, signal });
  }

  /** Resolves once that many wait. */
  function waiting(count: number): Promise<FairQueue> {
    return eventually(`${count} wait`, async () => {
      const seen = await fairQueue(stage());
      return seen.waiters.length === count && seen;
    });
  }

  /**
   * Redisson drops none of our waiters when it looks, and each grant ahead of one may subtract one wait; and after ours have
   * looked again, the lock may in addition be held to the end of its lease.
   */
  async function expectSafe(): Promise<void> {
    const seen = await fairQueue(stage());
    expect(isSafe(seen, 0)).toBe(true);
    await new RedissonFairWaiters(stage()).dropOverdue();
    expect((await fairQueue(stage())).waiters).toEqual(seen.waiters);
    await eventually('ours have looked', async () => {
      const looked = await fairQueue(stage());
      return isSafe(looked, looked.ttl);
    });
  }
}

/** Whether each deadline of ours is at least that far away, plus one wait for each grant. */
function isSafe({ now, waiters, deadlines }: FairQueue, ms: number): boolean {
  const least = (place: number) => now + ms + (place + 1) * WAIT - ROUNDING;
  return waiters.every(
    (waiter, place) => waiter.startsWith('redisson:') || deadlines[place]! >= least(place),
  );
}

function expectNear(actual: readonly number[], expected: readonly number[]): void {
  const far = actual.filter((value, i) => !(Math.abs(value - expected[i]!) <= NEAR));
  expect([actual.length, far]).toEqual([expected.length, []]);
}
