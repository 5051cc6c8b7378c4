import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { fairQueue, type FairQueue } from './fair-queue.js';
import { RedissonFairWaiters } from './redisson-fair-waiters.js';
import type { RedisStage } from './redis-stage.js';

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
export function fairLockArithmeticSuite(stage: () => RedisStage): void {
  it('keeps holder, queue, deadlines and messages where Redisson has them', async () => {
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
    const publish = stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
    const messages = waiters.map((waiter) => `${publish} ${names.waiterChannel(waiter)} 0`);
    expect([...new Set(await log.published(key))]).toEqual(messages);
    expect(await stage().keys()).toEqual([]);
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

  it('subtracts one wait from the waiters behind a granted one (Redisson: RedissonFairLockTest testLockAcquiredTimeoutDrift_Descrete)', async () => {
    const lease = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const stop = new AbortController();
    const { lease: granted } = await queue(stage().theirs);
    for (let n = 0; n < 3; n++) await queue(stage().mine, stop.signal);
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
  });

  it('subtracts one wait from the waiters behind one that gives up (Redisson: RedissonFairLockTest testAcquireFailedTimeoutDrift_Descrete)', async () => {
    await using _ = await stage().mine.mutex(stage().key, FAIR).acquire({ lease: LEASE });
    const [stop, leave] = [new AbortController(), new AbortController()];
    await queue(stage().mine, stop.signal);
    await queue(stage().theirs, leave.signal);
    await queue(stage().mine, stop.signal);
    await queue(stage().theirs, stop.signal);
    const before = await fairQueue(stage());
    leave.abort();

    const after = await waiting(3);
    const [first, , third, fourth] = before.deadlines as [number, number, number, number];
    expectNear(after.deadlines, [first, third - WAIT, fourth - WAIT]);
    expect(after.waiters).toEqual(before.waiters.filter((_, place) => place !== 1));
    stop.abort();
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
