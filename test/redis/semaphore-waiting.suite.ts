import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';
import { Visits } from './visits.js';

/** How clients wait for permits without owners. */
export function semaphoreWaitingSuite(stage: () => RedisStage): void {
  it('waits until others release (Redisson: RedissonSemaphoreTest testBlockingAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(1);
    await mine.plainSemaphore(key).acquire();
    const waiting = theirs.plainSemaphore(key).acquire();
    await listening();
    await mine.plainSemaphore(key).release();
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('waits for as many releases as it takes (Redisson: RedissonSemaphoreTest testBlockingNAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(5);
    await mine.plainSemaphore(key).acquire({ permits: 3 });
    const granted: string[] = [];
    const waiting = theirs.plainSemaphore(key).acquire({ permits: 4 });
    void waiting.then(() => granted.push('all four'));
    await listening();
    await mine.plainSemaphore(key).release();
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(3);
    expect(granted).toEqual([]);
    await mine.plainSemaphore(key).release();
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('waits as long as requested, and takes nothing (Redisson: RedissonSemaphoreTest testTryNAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(5);
    expect(await mine.plainSemaphore(key).tryAcquire({ permits: 3 })).toBe(true);
    expect(await theirs.plainSemaphore(key).tryAcquire({ permits: 4 })).toBe(false);
    const startedAt = performance.now();
    const inVain = theirs.plainSemaphore(key).acquire({ permits: 4, wait: 300 });
    await expect(inVain).rejects.toBeInstanceOf(LockTimeoutError);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(earliest(300));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(2);
    await mine.plainSemaphore(key).release(3);
    expect(await theirs.plainSemaphore(key).tryAcquire({ permits: 4 })).toBe(true);
  });

  it('is woken when permits are added (Redisson: RedissonSemaphoreTest testAcquireAfterAddPermits)', async () => {
    const { mine, theirs, key } = stage();
    const waiting = theirs.plainSemaphore(key).acquire({ permits: 2 });
    await listening();
    await mine.plainSemaphore(key).addPermits(2);
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('is woken when the number is set', async () => {
    const { mine, theirs, key } = stage();
    const waiting = theirs.plainSemaphore(key).acquire();
    await listening();
    expect(await mine.plainSemaphore(key).trySetPermits(1)).toBe(true);
    await waiting;
  });

  it('admits one at a time in one process (Redisson: RedissonSemaphoreTest testConcurrency_SingleInstance)', async () => {
    const { mine, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(1);
    const visits = await crowd(30, () => 1, [mine]);
    expect(visits).toMatchObject({ done: 30, most: 1 });
  });

  it('admits one at a time from several processes (Redisson: RedissonSemaphoreTest testConcurrency_MultiInstance_1_permits)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(1);
    const visits = await crowd(30, () => 1, [mine, theirs, await stage().client()]);
    expect(visits).toMatchObject({ done: 30, most: 1 });
  });

  it('admits no more than there are permits, from several processes (Redisson: RedissonSemaphoreTest testConcurrencyLoop_MultiInstance)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(3);
    const visits = await crowd(45, (n) => (n % 3) + 1, [mine, theirs, await stage().client()]);
    expect(visits.done).toBe(45);
    expect(visits.most).toBeLessThanOrEqual(3);
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(3);
  });

  it('also serves a waiter for all permits (Redisson: RedissonSemaphoreTest testConcurrencyLoopMax_MultiInstance)', async () => {
    const { mine, theirs, key } = stage();
    const all = 2 ** 31 - 1;
    await mine.plainSemaphore(key).trySetPermits(all);
    const visits = await crowd(30, (n) => (n % 5 === 0 ? all : 1), [mine, theirs]);
    expect(visits.done).toBe(30);
    expect(visits.most).toBeLessThanOrEqual(all);
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(all);
  });

  it('looks by itself after 5 s, so that a lost message costs no more', async () => {
    const { mine, key } = stage();
    const waiting = mine.plainSemaphore(key).acquire({ wait: 20_000 });
    await listening();
    const startedAt = performance.now();
    await stage().command('INCR', key); // nothing is published
    await waiting;
    expect(performance.now() - startedAt).toBeLessThan(5_000 + 3_000);
  }, 30_000);

  it('receives messages again after its subscriber connection was cut', async () => {
    const { mine, key } = stage();
    const waiting = mine.plainSemaphore(key).acquire({ wait: 20_000 });
    await listening();
    await stage().commands('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await stage().theirs.plainSemaphore(key).release(); // perhaps without any subscriber
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  }, 30_000);

  it('takes nothing when it is aborted at any time', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(2);
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = semaphore.acquire({ permits: 2, signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      abort.abort(new Error('never mind'));
      await acquired.then(
        () => semaphore.release(2),
        (error) => expect(error).toBeInstanceOf(LockAbortedError),
      );
    }
    await eventually('all are free', async () => (await semaphore.availablePermits()) === 2);
    await mine.close(); // its background work is done then
    expect(await stage().command('GET', key)).toBe('2');
  });

  it('wakes others with the permits that it releases because it was aborted', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(1);
    const abort = new AbortController();
    await stage().command('CLIENT', 'PAUSE', 300);
    const aborted = mine.plainSemaphore(key).acquire({ signal: abort.signal });
    await nextTurn();
    const next = theirs.plainSemaphore(key).acquire({ wait: 20_000 });
    abort.abort();
    await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
    await next;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('takes nothing when its timeout ends before the server answers', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(3);
    await stage().command('CLIENT', 'PAUSE', 500);
    const inVain = semaphore.acquire({ permits: 2, wait: 100 });
    await expect(inVain).rejects.toBeInstanceOf(LockTimeoutError);
    await mine.close();
    expect(await stage().command('GET', key)).toBe('3');
  });

  it('takes nothing when its client closes', async () => {
    const { mine, theirs, key } = stage();
    const waiting = mine.plainSemaphore(key).acquire();
    await listening();
    const refused = expect(waiting).rejects.toBeInstanceOf(LockClientClosedError);
    await mine.close();
    await refused;
    await theirs.plainSemaphore(key).release();
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(1);
    await expect(mine.plainSemaphore(key).acquire()).rejects.toBeInstanceOf(LockClientClosedError);
  });

  function listening(): Promise<void> {
    return stage().listening(semaphoreNames(stage().key).channel);
  }

  /** Starts that many visits at once, by turns from each client. */
  async function crowd(
    count: number,
    permitsOf: (n: number) => number,
    clients: readonly RedisStage['mine'][],
  ): Promise<Visits> {
    const visits = new Visits();
    const visit = async (n: number) => {
      const permits = permitsOf(n);
      const semaphore = clients[n % clients.length]!.plainSemaphore(stage().key);
      await semaphore.acquire({ permits });
      visits.enter(permits);
      await nextTurn();
      visits.leave(permits);
      await semaphore.release(permits);
    };
    await Promise.all(Array.from({ length: count }, (_, n) => visit(n)));
    return visits;
  }
}
