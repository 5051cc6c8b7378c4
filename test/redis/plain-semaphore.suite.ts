import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockKeyError,
  LockQueueFullError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { semaphoreAcquire, semaphoreChange, semaphoreUndo } from '../../lib/redis/scripts/index.js';
import { earliest, eventually } from '../support/time.js';
import { type OnRedis, semaphoreNames, Visits } from './support/redis-stage.js';

/** How many permits there are, and what changes that. */
export function semaphorePermitsSuite({ it, test, stage }: OnRedis): void {
  test('is set once, and may expire (Redisson: RedissonSemaphoreTest testTrySetPermits)', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    expect(await semaphore.trySetPermits(10)).toBe(true);
    expect(await theirs.plainSemaphore(key).trySetPermits(20)).toBe(false);
    expect(await semaphore.availablePermits()).toBe(10);
    await stage().command('DEL', key);

    expect(await semaphore.trySetPermits(3, 600_000)).toBe(true);
    expect(await stage().command('PTTL', key)).toBeGreaterThan(500_000);
    await stage().command('DEL', key);

    expect(await semaphore.trySetPermits(3, 200)).toBe(true);
    await eventually('it has ended', async () => (await semaphore.availablePermits()) === 0);
    expect(await semaphore.trySetPermits(4)).toBe(true);
    expect(await stage().command('PTTL', key)).toBe(-1);
  });

  it('gets more permits (Redisson: RedissonSemaphoreTest testAddPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.addPermits(5);
    expect(await semaphore.availablePermits()).toBe(5);
    await semaphore.addPermits(5);
    expect(await semaphore.availablePermits()).toBe(10);
  });

  it('gets fewer permits, even fewer than none (Redisson: RedissonSemaphoreTest testReducePermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(10);
    await semaphore.acquire({ permits: 10 });
    await semaphore.addPermits(-5);
    expect(await semaphore.availablePermits()).toBe(-5);
    await semaphore.release(10);
    expect(await semaphore.availablePermits()).toBe(5);
    expect(await semaphore.tryAcquire({ permits: 5 })).toBe(true);
  });

  it('is created by a release (Redisson: RedissonSemaphoreTest testAcquireWithoutSetPermits)', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.plainSemaphore(key).tryAcquire()).toBe(false);
    await mine.plainSemaphore(key).release();
    await mine.plainSemaphore(key).release();
    await theirs.plainSemaphore(key).acquire({ permits: 2 });
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('has one more permit after a release without an acquire (Redisson: RedissonSemaphoreTest testReleaseWithoutPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.release();
    expect(await semaphore.availablePermits()).toBe(1);
  });

  test('is not created by a release that requires it to exist (Redisson: RedissonSemaphoreTest testReleaseIfExists)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    expect(await semaphore.releaseIfExists()).toBe(false);
    expect(await semaphore.releaseIfExists(3)).toBe(false);
    expect(await stage().command('EXISTS', stage().key)).toBe(0);
    await semaphore.trySetPermits(1);
    expect(await semaphore.releaseIfExists()).toBe(true);
    expect(await semaphore.releaseIfExists(3)).toBe(true);
    expect(await semaphore.availablePermits()).toBe(5);
  });

  it('is drained (Redisson: RedissonSemaphoreTest testDrainPermits)', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    expect(await semaphore.drainPermits()).toBe(0);
    await semaphore.addPermits(10);
    await semaphore.acquire({ permits: 3 });
    expect(await semaphore.drainPermits()).toBe(7);
    expect(await semaphore.availablePermits()).toBe(0);
    expect(await semaphore.tryAcquire()).toBe(false);
    await semaphore.addPermits(-2);
    expect(await semaphore.drainPermits()).toBe(-2);
    expect(await semaphore.availablePermits()).toBe(0);
  });

  it('is not created where it is drained', async () => {
    const { mine, theirs, key } = stage();
    expect(await mine.plainSemaphore(key).drainPermits()).toBe(0);
    expect(await stage().command('EXISTS', key)).toBe(0);
    expect(await theirs.plainSemaphore(key).trySetPermits(20)).toBe(true);
  });

  it('is acquired and released by different clients (Redisson: RedissonSemaphoreTest testReleaseAcquire)', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(10);
    await mine.plainSemaphore(key).acquire();
    await mine.plainSemaphore(key).acquire({ permits: 5 });
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(4);
    await theirs.plainSemaphore(key).release(5);
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(9);
    await theirs.plainSemaphore(key).release();
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(10);
  });

  it('is not created by the end of work that has outlived it', async () => {
    const { mine, theirs, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(3, 600_000);
    await mine.plainSemaphore(key).using(() => stage().command('DEL', key), { permits: 2 });
    expect(await stage().command('EXISTS', key)).toBe(0);
    expect(await theirs.plainSemaphore(key).trySetPermits(3)).toBe(true);
  });

  it('releases its permits when the work is done, and when it fails', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(3);
    const left = await semaphore.using(() => semaphore.availablePermits(), { permits: 2 });
    expect(left).toBe(1);
    const options = { permits: 2 };
    await semaphore.using(() => void (options.permits = 3), options);
    expect(await semaphore.availablePermits()).toBe(3);
    const failure = semaphore.using(() => Promise.reject(new Error('out of seats')));
    await expect(failure).rejects.toThrow('out of seats');
    expect(await semaphore.availablePermits()).toBe(3);
  });

  it('keeps its expiry through everything but a drain', async () => {
    const semaphore = stage().mine.plainSemaphore(stage().key);
    await semaphore.trySetPermits(5, 600_000);
    await semaphore.acquire({ permits: 2 });
    await semaphore.release();
    await semaphore.releaseIfExists();
    expect(await stage().command('PTTL', stage().key)).toBeGreaterThan(500_000);
    await semaphore.drainPermits();
    expect(await stage().command('PTTL', stage().key)).toBe(-1);
  });
}

/** How clients wait for permits without owners. */
export function semaphoreWaitingSuite({ it, test, stage }: OnRedis): void {
  test('waits until others release (Redisson: RedissonSemaphoreTest testBlockingAcquire)', async () => {
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

  it('refuses an acquire beyond maxWaitersPerKey, and serves the one before it', async () => {
    const { mine, key } = stage();
    await mine.plainSemaphore(key).trySetPermits(1);
    await mine.plainSemaphore(key).acquire();
    const limited = (await stage().client({ maxWaitersPerKey: 1 })).plainSemaphore(key);
    const waiting = limited.acquire();
    await expect(limited.acquire()).rejects.toBeInstanceOf(LockQueueFullError);
    expect(await limited.tryAcquire()).toBe(false); // it does not wait
    await mine.plainSemaphore(key).release();
    await waiting;
    expect(await limited.availablePermits()).toBe(0);
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

  test('is woken when permits are added (Redisson: RedissonSemaphoreTest testAcquireAfterAddPermits)', async () => {
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

  test('receives messages again after its subscriber connection was cut', async () => {
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

  it('says so when its client is closed', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await mine.close();
    for (const asked of [semaphore.release(), semaphore.availablePermits()])
      await expect(asked).rejects.toMatchObject({
        code: 'LOCK_CONNECTION',
        message: expect.stringMatching(/was closed before the server answered for/),
        key,
      });
  });

  function listening(): Promise<void> {
    return stage().listening(semaphoreNames(stage().key).channel);
  }

  /** Starts that many visits at once, by turns from each client. */
  async function crowd(
    count: number,
    permitsOf: (n: number) => number,
    clients: readonly RedisLockClient[],
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

/** The keys on the servers and the messages; Redisson has to understand them. */
export function semaphoreLayoutSuite({ it, test, stage }: OnRedis): void {
  test('is a number, and nothing else except the record of its requests', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(5);
    await semaphore.acquire({ permits: 2 });
    await semaphore.addPermits(3);
    await semaphore.release();
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('7');
    expect(await stage().command('PTTL', key)).toBe(-1);
  });

  test('publishes the number of permits, and never less than one', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(2);
    await semaphore.acquire({ permits: 2 });
    await semaphore.release(2);
    await semaphore.addPermits(-5);
    await semaphore.release();
    await semaphore.addPermits(4);
    await semaphore.drainPermits();
    await semaphore.releaseIfExists(3);
    const { publish } = stage();
    const { channel } = semaphoreNames(key);
    expect(await log.published(key)).toEqual(
      ['2', '2', '2', '3'].map((text) => `${publish} ${channel} ${text}`),
    );
  });

  test('waits for a release of Redisson until its message', async () => {
    const { mine, key } = stage();
    const { channel } = semaphoreNames(key);
    await stage().command('SET', key, -1);
    const waiting = mine.plainSemaphore(key).acquire();
    await stage().listening(channel);
    await stage().command('INCRBY', key, 2);
    await stage().command(stage().publish, channel, '1');
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  test('has the prefix in its names', async () => {
    const { mine, key } = stage();
    const prefixed = await stage().client({ prefix: 'shop:' });
    const waiting = prefixed.plainSemaphore(key).acquire();
    await eventually('it listens', async () => {
      const ask = stage().isCluster ? 'SHARDCHANNELS' : 'CHANNELS';
      const channels = await stage().commands('PUBSUB', ask, 'redisson_sc:*');
      return channels.flat().includes(`redisson_sc:{shop:${key}}`);
    });
    await mine.plainSemaphore(`shop:${key}`).release();
    await waiting;
    await stage().connection().del(`shop:${key}`);
  });

  it('takes permits once for a request that is sent twice', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    for (let time = 0; time < 2; time++)
      expect(await run(semaphoreAcquire, [1, 1], 2)).toEqual([1, 0]);
    expect(await stage().command('GET', key)).toBe('1');
    expect(await stage().command('PTTL', requests())).toBeGreaterThan(0);
  });

  it('changes the number once for a request that is sent twice, and publishes it once', async () => {
    const { key } = stage();
    const log = await stage().log();
    const outcomes: unknown[] = [];
    for (const [i, mode] of ['release', 'drain', 'release-if-exists', 'add', 'try'].entries())
      for (let time = 0; time < 2; time++)
        outcomes.push(await run(semaphoreChange, [i + 1, 1], ...messages(), mode, 4));
    expect(outcomes).toEqual([1, 1, 4, 4, 1, 1, 1, 1, 0, 0]);
    expect(await stage().command('GET', key)).toBe('8');
    const published = await log.published(key);
    expect(published.map((message) => message.split(' ').at(-1))).toEqual(['4', '4', '8']);
  });

  it('forgets settled requests, and rejects them when they come late', async () => {
    const { key } = stage();
    for (const number of [1, 2, 3])
      await run(semaphoreChange, [number, 1], ...messages(), 'release', 1);
    expect(await run(semaphoreChange, [5, 4], ...messages(), 'release', 1)).toBe(1);
    expect(await stage().command('HLEN', requests())).toBe(2); // the fifth, and the settled ones
    const late = run(semaphoreChange, [3, 1], ...messages(), 'release', 1);
    await expect(late).rejects.toThrow('GONE');
    await expect(run(semaphoreAcquire, [2, 1], 1)).rejects.toThrow('GONE');
    expect(await run(semaphoreChange, [4, 4], ...messages(), 'release', 1)).toBe(1);
    expect(await stage().command('GET', key)).toBe('5');
  });

  it('releases once what a request took, and nothing for a request that took nothing', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    await run(semaphoreAcquire, [1, 1], 2);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(0);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(-1);
    expect(await run(semaphoreAcquire, [2, 1], 4)).toEqual([0, -1]);
    expect(await run(semaphoreUndo, [2, 1], ...messages())).toBe(-1);
    expect(await stage().command('GET', key)).toBe('3');
  });

  it('is not created by the release of what a request took, where it has ended since', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    await run(semaphoreAcquire, [1, 1], 2);
    await stage().command('DEL', key);
    const log = await stage().log();
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(0);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(-1);
    expect(await stage().command('EXISTS', key)).toBe(0);
    expect(await log.published(key)).toEqual([]);
  });

  it('takes nothing for a request that was undone before it arrived', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(-1);
    expect(await run(semaphoreAcquire, [1, 1], 2)).toEqual([0, -1]);
    expect(await stage().command('GET', key)).toBe('3');
  });

  it.each<[string, ...(string | number)[]]>([
    ['HSET', 'field', 'theirs'],
    ['RPUSH', 'theirs'],
    ['SADD', 'theirs'],
    ['ZADD', 1, 'theirs'],
    ['SET', 'theirs'],
  ])('rejects a foreign key, and leaves it alone (%s)', async (command, ...operands) => {
    const { mine, key } = stage();
    await stage().command(command, key, ...operands);
    const before = await stage().command('DUMP', key);
    const semaphore = mine.plainSemaphore(key);
    for (const ask of [
      () => semaphore.acquire(),
      () => semaphore.tryAcquire(),
      () => semaphore.release(),
      () => semaphore.releaseIfExists(),
      () => semaphore.addPermits(1),
      () => semaphore.drainPermits(),
      () => semaphore.availablePermits(),
    ])
      await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    expect(await semaphore.trySetPermits(1).catch(() => false)).toBe(false);
    await mine.close(); // its background work is done then
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('DUMP', key)).toEqual(before);
  });

  function requests(): string {
    return `${semaphoreNames(stage().key).requests}1`;
  }

  function messages(): string[] {
    return [stage().publish, semaphoreNames(stage().key).channel];
  }

  /** Runs a script for the request with that number, when those below the second number are settled. */
  function run(
    { source }: Script,
    [number, first]: [number, number],
    ...args: (string | number)[]
  ): Promise<unknown> {
    const terms = [number, first, 60_000];
    return stage().command('EVAL', source, 2, stage().key, requests(), ...terms, ...args);
  }
}
