import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { RedisPermitOptions } from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';
import { Visits } from './visits.js';

/** Longer than any test: a client that is granted a permit before that was woken by a message. */
const LONG_LEASE = 600_000;

/** How clients wait for permits, and what ends a wait. */
export function permitExpirableSemaphoreWaitingSuite(stage: () => RedisStage): void {
  it('waits until others release (Redisson: RedissonPermitExpirableSemaphoreTest testTryAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    const lease = await mine.semaphore(key).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await queue(theirs, { wait: 20_000 });
    await stage().listening(semaphoreNames(key).channel);
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('waits until there are as many permits as requested (Redisson: RedissonPermitExpirableSemaphoreTest testBlockingAcquireMany)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(5);
    const leases = await Promise.all(
      [3, 2].map((permits) => mine.semaphore(key).acquire({ permits, lease: LONG_LEASE })),
    );
    const { lease: waiting } = await queue(theirs, { permits: 4 });
    const granted: string[] = [];
    void waiting.then(() => granted.push('all four'));
    await leases[0]!.release();
    expect(await theirs.semaphore(key).availablePermits()).toBe(3);
    expect(granted).toEqual([]);
    await leases[1]!.release();
    await using next = await waiting;
    expect(next.permitIds).toHaveLength(4);
  });

  it('is woken when permits are added, and when a number is set', async () => {
    const { mine, theirs, key } = stage();
    const { lease: first } = await queue(theirs);
    await stage().listening(semaphoreNames(key).channel);
    await mine.semaphore(key).addPermits(1);
    await using _ = await first;
    const { lease: second } = await queue(theirs);
    await stage().listening(semaphoreNames(key).channel);
    await mine.semaphore(key).setPermits(2);
    await using next = await second;
    expect(next.isHeld).toBe(true);
  });

  it('serves many waiters of two clients that want two permits each (Redisson: RedissonPermitExpirableSemaphoreTest testAcquireAsyncMany)', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(4);
    const visits = await crowd(20, () => ({ permits: 2, lease: LONG_LEASE }));
    expect(visits).toMatchObject({ done: 20, most: 4 });
  });

  it('wakes a waiter for two permits when two are released one by one (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyMultiPermits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    for (let round = 0; round < 5; round++) {
      const one = await mine.semaphore(key).acquire({ lease: LONG_LEASE });
      const other = await theirs.semaphore(key).acquire({ lease: LONG_LEASE });
      const { lease: waiting } = await queue(theirs, { permits: 2 });
      await Promise.all([one.release(), other.release()]);
      const two = await waiting;
      expect(two.permitIds).toHaveLength(2);
      await two.release();
    }
  });

  it('wakes others behind a waiter that took less than was released (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyMultiPermits2)', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const all = await mine.semaphore(key).acquire({ permits: 3, lease: LONG_LEASE });
    const waiting = [
      await queue(theirs, { lease: LONG_LEASE }),
      await queue(theirs, { permits: 2, lease: LONG_LEASE }),
    ];
    await stage().listening(semaphoreNames(key).channel);
    await all.release();
    const next = await Promise.all(waiting.map(({ lease }) => lease));
    expect(next.map(({ permitIds }) => permitIds.length)).toEqual([1, 2]);
    for (const lease of next) await lease.release();
  });

  it('admits one at a time in one process (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrency_SingleInstance)', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    const visits = await crowd(30, () => ({ lease: LONG_LEASE }), [mine]);
    expect(visits).toMatchObject({ done: 30, most: 1 });
  });

  it('admits no more than there are permits, from several processes (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyLoop_MultiInstance)', async () => {
    const { mine, key } = stage();
    await mine.semaphore(key).trySetPermits(3);
    const others = await Promise.all([1, 2, 3].map(() => stage().client()));
    const permitsOf = (n: number) => ({ permits: (n % 3) + 1 });
    const visits = await crowd(60, permitsOf, [mine, ...others]);
    expect(visits.done).toBe(60);
    expect(visits.most).toBeLessThanOrEqual(3);
    expect(await mine.semaphore(key).availablePermits()).toBe(3);
  });

  it('takes nothing after its timeout', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    await using lease = await mine.semaphore(key).acquire();
    const inVain = theirs.semaphore(key).acquire({ wait: 200 });
    await expect(inVain).rejects.toBeInstanceOf(LockTimeoutError);
    await lease.release();
    await eventually(
      'it is free',
      async () => (await mine.semaphore(key).availablePermits()) === 1,
    );
  });

  it('takes nothing when it is aborted at any time', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 2 });
    await (await semaphore.acquire()).release();
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = semaphore.acquire({ permits: 2, signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      abort.abort(new Error('never mind'));
      await acquired.then(
        (lease) => lease.release(),
        (error) => expect(error).toBeInstanceOf(LockAbortedError),
      );
    }
    await eventually('all are free', async () => (await semaphore.availablePermits()) === 2);
    expect(await semaphore.acquiredPermits()).toBe(0);
  });

  it('passes a waiter that wants more than there is, unless it is fair', async () => {
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    const lease = await mine.semaphore(key).acquire({ lease: LONG_LEASE });
    const { lease: both } = await queue(theirs, { permits: 2 });
    const passed = await theirs.semaphore(key).tryAcquire();
    expect(passed?.isHeld).toBe(true);
    await passed!.release();
    await lease.release();
    await (await both).release();
  });

  function queue(client: RedisLockClient, options: RedisPermitOptions = {}) {
    const { key } = stage();
    const acquire = () => client.semaphore(key).acquire(options);
    return stage().queue(client, { key, acquire });
  }

  /** Starts that many visits at once, by turns from each client. */
  async function crowd(
    count: number,
    optionsOf: (n: number) => RedisPermitOptions,
    clients = [stage().mine, stage().theirs],
  ): Promise<Visits> {
    const visits = new Visits();
    const visit = async (n: number) => {
      const client = clients[n % clients.length]!;
      const options = optionsOf(n);
      const lease = await client.semaphore(stage().key).acquire(options);
      visits.enter(options.permits);
      await nextTurn();
      visits.leave(options.permits);
      await lease.release();
    };
    await Promise.all(Array.from({ length: count }, (_, n) => visit(n)));
    return visits;
  }
}
