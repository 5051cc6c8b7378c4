import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { eventually } from '../support/time.js';
import { fairQueue, RedissonFairWaiters } from './support/fair-queue.js';
import { type OnRedis, scriptCalls, startLockUser } from './support/redis-stage.js';

/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const AT_ONCE = 3_000;

/** A waiter that leaves the queue, in whatever way, does not keep the others waiting. */
export function fairLockLeaversSuite({ it, test, stage }: OnRedis): void {
  it('removes a waiter that gives up, so that the next is served without delay (Redisson: RedissonFairLockTest testTryLockNonDelayed)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    const { lease: inVain } = await stage().queue(theirs, theirs.mutex(key, FAIR), { wait: 100 });
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    await expect(inVain).rejects.toThrow(LockTimeoutError);
    await waiting(1);
    await expectServedAtOnce(() => lease.release(), next);
  });

  it('removes an aborted waiter', async () => {
    const { mine, theirs, key } = stage();
    const stop = new AbortController();
    const lease = await mine.mutex(key, FAIR).acquire();
    const { lease: aborted } = await stage().queue(theirs, theirs.mutex(key, FAIR), {
      signal: stop.signal,
    });
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    stop.abort();
    await expect(aborted).rejects.toThrow(LockAbortedError);
    await waiting(1);
    await expectServedAtOnce(() => lease.release(), next);
  });

  test('removes all waiters of a client that closes', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    const closed = [];
    for (let n = 0; n < 3; n++)
      closed.push((await stage().queue(theirs, theirs.mutex(key, FAIR))).lease);
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    await theirs.close();
    expect((await fairQueue(stage())).waiters).toHaveLength(1);
    await Promise.all(
      closed.map((waiter) => expect(waiter).rejects.toThrow(LockClientClosedError)),
    );
    await expectServedAtOnce(() => lease.release(), next);
  });

  test('wakes the next when the first leaves a lock that is free', async () => {
    const { mine, theirs, key } = stage();
    const stop = new AbortController();
    const lease = await mine.mutex(key, FAIR).acquire();
    await stage().command('CONFIG', 'RESETSTAT');
    const { lease: first } = await stage().queue(theirs, theirs.mutex(key, FAIR), {
      signal: stop.signal,
    });
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    await eventually('both have asked again', async () => (await scriptCalls(stage())) >= 4);
    await stage().command('DEL', key); // the message to the first is lost
    await expectServedAtOnce(() => stop.abort(), next);
    await expect(first).rejects.toThrow(LockAbortedError);
    await lease.release();
  });

  it('leaves no waiter in the queue that timed out while the server did not answer (Redisson: RedissonFairLockTest testAcquireFailedNotCalledOnRedisTimeout)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    await stage().command('CLIENT', 'PAUSE', 600);
    const inVain = [1, 2, 3].map(() => theirs.mutex(key, FAIR).acquire({ wait: 200 }));
    for (const outcome of await Promise.allSettled(inVain))
      expect(outcome).toMatchObject({ reason: expect.any(LockTimeoutError) });
    await theirs.close(); // waits for commands under way
    expect((await fairQueue(stage())).waiters).toEqual([]);
    await lease.release();
  });

  it('is free one lease after the process that holds it was killed (Redisson: RedissonFairLockTest testAutoExpire)', async () => {
    const watchdogTimeout = 1_000;
    const client = await stage().client({ watchdogTimeout });
    const holder = await startLockUser(stage(), { kind: 'fair', watchdogTimeout });
    const { lease } = await stage().queue(client, client.mutex(stage().key, FAIR));
    await holder.stop();
    const begin = performance.now();
    await (await lease).release();
    expect(performance.now() - begin).toBeLessThan(watchdogTimeout + AT_ONCE);
  });

  it('skips all waiters of a killed process after the lifetime of one waiter', async () => {
    const watchdogTimeout = 1_500;
    const client = await stage().client({ watchdogTimeout });
    const lease = await client.mutex(stage().key, FAIR).acquire();
    const killed = await startLockUser(stage(), { kind: 'fair', watchdogTimeout, count: 4 });
    const { lease: next } = await stage().queue(client, client.mutex(stage().key, FAIR));
    expect((await fairQueue(stage())).waiters).toHaveLength(5);
    await killed.stop();
    const begin = performance.now();
    await lease.release();
    await (await next).release();
    expect(performance.now() - begin).toBeLessThan(2 * watchdogTimeout); // not one for each of the four
  });

  it('skips dead waiters of Redisson after one wait for each (Redisson: RedissonFairLockTest testAbandonedTimeoutDrift_Descrete)', async () => {
    const client = await stage().client({ fairLockWaitTimeout: 400 });
    const redisson = new RedissonFairWaiters(stage(), 400);
    const lease = await client.mutex(stage().key, FAIR).acquire({ lease: 600 });
    await redisson.acquire('dead:1');
    await redisson.acquire('dead:2');
    const begin = performance.now();
    const { lease: third } = await stage().queue(client, client.mutex(stage().key, FAIR));
    await (await third).release();
    const waited = performance.now() - begin;
    expect(waited).toBeGreaterThan(1_200);
    expect(waited).toBeLessThan(AT_ONCE);
    await lease.release();
  });

  it('serves the second waiter one wait after the first has died (Redisson: RedissonFairLockTest testFirstThreadDeathTimeoutDrift)', async () => {
    const client = await stage().client({ fairLockWaitTimeout: 500 });
    const redisson = new RedissonFairWaiters(stage(), 500);
    const lease = await client.mutex(stage().key, FAIR).acquire({ lease: 500 });
    await redisson.acquire('dead:1');
    const { lease: second } = await stage().queue(client, client.mutex(stage().key, FAIR));
    await redisson.acquire('redisson:3');
    const { deadlines } = await fairQueue(stage());
    const held = await second;
    const { now, deadlines: left } = await fairQueue(stage());
    expect(now).toBeGreaterThanOrEqual(deadlines[0]!);
    expect(left[0]).toBeLessThanOrEqual(deadlines[2]!);
    await redisson.giveUp('redisson:3');
    await held.release();
    await lease.release();
  });

  it('does not poll in a loop while the lock is free for a waiter that does not come', async () => {
    const watchdogTimeout = 1_500;
    const clients = await group({ watchdogTimeout });
    const redisson = new RedissonFairWaiters(stage());
    const first = await clients[0]!.mutex(stage().key, FAIR).acquire();
    await redisson.acquire('dead:1');
    const leases = await Promise.all(
      clients.map((client) => stage().queue(client, client.mutex(stage().key, FAIR))),
    );
    await first.release();
    await stage().command('CONFIG', 'RESETSTAT');
    const begin = performance.now();
    const passed = () => performance.now() - begin;
    await eventually('a while has passed', () => passed() > watchdogTimeout);
    const looks = await scriptCalls(stage());
    expect(looks).toBeGreaterThanOrEqual(clients.length); // they keep looking
    const each = 1 + Math.ceil(passed() / (watchdogTimeout / 3));
    expect(looks).toBeLessThanOrEqual(clients.length * each);

    await redisson.giveUp('dead:1');
    await Promise.all(leases.map(({ lease }) => lease.then((held) => held.release())));
  });

  it('notifies a waiter of Redisson that it is first when our waiters ahead of it have died', async () => {
    const watchdogTimeout = 900;
    const client = await stage().client({ watchdogTimeout });
    const redisson = new RedissonFairWaiters(stage());
    const lease = await client.mutex(stage().key, FAIR).acquire();
    const killed = await startLockUser(stage(), { kind: 'fair', watchdogTimeout });
    await redisson.acquire('redisson:1');
    const { lease: last } = await stage().queue(client, client.mutex(stage().key, FAIR));
    await killed.stop();
    const log = await stage().log();
    await lease.release();
    await eventually('the waiter is notified', async () =>
      (await log.published(stage().key)).some((message) => message.includes(':redisson:1 0')),
    );
    expect(await redisson.acquire('redisson:1')).toBe(true);
    await stage().command('DEL', stage().key);
    await (await last).release();
  });

  it('does not wait for a waiter without a known deadline', async () => {
    const { mine, names, key } = stage();
    await stage().command('RPUSH', names.queue, 'nobody:1');
    const lease = await mine.mutex(key, FAIR).tryAcquire();
    expect(lease?.isHeld).toBe(true);

    await stage().command('RPUSH', names.queue, 'nobody:2');
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    await expectServedAtOnce(() => lease!.release(), next);
  });

  function group(options: Partial<RedisLockOptions>): Promise<RedisLockClient[]> {
    return Promise.all([1, 2, 3].map(() => stage().client(options)));
  }

  /** Resolves once that many wait. */
  async function waiting(count: number): Promise<void> {
    await eventually(
      `${count} wait`,
      async () => (await fairQueue(stage())).waiters.length === count,
    );
  }

  async function expectServedAtOnce(
    free: () => void | Promise<void>,
    next: Promise<{ release(): Promise<void> }>,
  ): Promise<void> {
    const begin = performance.now();
    await free();
    const held = await next;
    expect(performance.now() - begin).toBeLessThan(AT_ONCE);
    await held.release();
  }
}

/** Of one process only the first few waiters are in the queue on the server. */
export function fairLockLinesSuite({ it, test, stage }: OnRedis): void {
  test('has few waiters of each process on the server, and serves all in their order', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    const served: string[] = [];
    const longest: number[] = [];
    const visits: Promise<void>[] = [];
    const enter = async (name: string, client: typeof mine) => {
      const queued = await stage().queue(client, client.mutex(key, FAIR));
      const visit = async () => {
        const held = await queued.lease;
        served.push(name);
        longest.push((await fairQueue(stage())).waiters.length);
        await held.release();
      };
      visits.push(visit());
    };
    const names = Array.from({ length: WAITERS_ON_SERVER + 9 }, (_, n) => `mine ${n}`);
    for (const name of names) await enter(name, mine);
    expect((await fairQueue(stage())).waiters).toHaveLength(WAITERS_ON_SERVER);
    await enter('theirs', theirs);
    expect((await fairQueue(stage())).waiters).toHaveLength(WAITERS_ON_SERVER + 1);

    await lease.release();
    await Promise.all(visits);
    const expected = [...names];
    expected.splice(WAITERS_ON_SERVER, 0, 'theirs'); // it came behind those that were on the server
    expect(served).toEqual(expected);
    expect(Math.max(...longest)).toBeLessThanOrEqual(WAITERS_ON_SERVER + 1);
  });

  it('adds the next waiter of the process when one of the first gives up', async () => {
    const { held, stops, leases } = await crowd(WAITERS_ON_SERVER + 2);
    const { waiters: before } = await fairQueue(stage());
    stops[4]!.abort();
    const after = await eventually('the next has come', async () => {
      const { waiters } = await fairQueue(stage());
      return waiters.length === WAITERS_ON_SERVER && !waiters.includes(before[4]!) && waiters;
    });
    expect(after.slice(0, -1)).toEqual(before.filter((_, place) => place !== 4));
    await expect(leases[4]).rejects.toBeInstanceOf(LockAbortedError);
    await leave(stops, leases);
    await held.release();
  });

  it('sends nothing for the waiters behind, neither when they come nor when they give up; a tryAcquire passes them', async () => {
    const { key } = stage();
    await stage().command('CONFIG', 'RESETSTAT');
    const client = await stage().client({ watchdogTimeout: 600_000 }); // so that no waiter looks meanwhile
    const { held, stops, leases } = await crowd(WAITERS_ON_SERVER, client);
    const asked = 1 + 2 * WAITERS_ON_SERVER; // the holder once, each waiter before and after it has subscribed
    await eventually('all have asked', async () => (await scriptCalls(stage())) === asked);
    const stop = new AbortController();
    const { lease } = await stage().queue(client, client.mutex(key, FAIR), { signal: stop.signal });
    const { lease: next } = await stage().queue(client, client.mutex(key, FAIR), { wait: 60_000 });
    stop.abort();
    await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
    expect(await client.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await scriptCalls(stage())).toBe(asked + 1);

    await leave(stops, leases);
    await held.release();
    await (await next).release();
  });

  /** Queues that many waiters of this process for a lock that is held. */
  async function crowd(count: number, client = stage().mine) {
    const { theirs, key } = stage();
    const held = await theirs.mutex(key, FAIR).acquire({ lease: 60_000 });
    const stops = Array.from({ length: count }, () => new AbortController());
    const leases = [];
    for (const { signal } of stops)
      leases.push((await stage().queue(client, client.mutex(key, FAIR), { signal })).lease);
    return { held, stops, leases };
  }

  async function leave(
    stops: readonly AbortController[],
    leases: readonly Promise<unknown>[],
  ): Promise<void> {
    for (const stop of stops) stop.abort();
    await Promise.allSettled(leases);
  }
}

const FAIR = { fair: true };

/** First come, first served; across clients, and however long it takes. */
export function fairLockOrderSuite({ it, test, stage }: OnRedis): void {
  it('serves many waiters with leases of their own (Redisson: RedissonFairLockTest testMultipleLocks)', async () => {
    const { mine, theirs, key } = stage();
    let visits = 0;
    const visit = async (client: RedisLockClient) => {
      const lease = await client.mutex(key, FAIR).acquire({ lease: 20_000 });
      visits += 1;
      await lease.release();
    };
    await Promise.all(numbers(150).map((n) => visit(n % 2 === 0 ? mine : theirs)));
    expect(visits).toBe(150);
  });

  it('moves on at the end of each lease that is not released, in order (Redisson: RedissonFairLockTest testLeaseTimeout)', async () => {
    const begin = performance.now();
    const served: number[] = [];
    const leases: Promise<RedisLease>[] = [];
    const { mine, theirs, key } = stage();
    for (const visitor of numbers(5)) {
      const client = visitor % 2 === 0 ? mine : theirs;
      const { lease } = await stage().queue(client, client.mutex(key, FAIR), { lease: 300 });
      leases.push(lease);
      void lease.then(() => served.push(visitor));
    }
    const held = await Promise.all(leases);
    expect(served).toEqual(numbers(5));
    expect(performance.now() - begin).toBeLessThan(5 * 300 + 3_000);
    await Promise.all(held.map((lease) => lease.release()));
  });

  it('does not let a tryAcquire pass waiters of a free lock', async () => {
    const { mine, key } = stage();
    const redisson = new RedissonFairWaiters(stage());
    const lease = await mine.mutex(key, FAIR).acquire();
    await redisson.acquire('waiter:1');
    await lease.release();
    expect(await mine.mutex(key, FAIR).isLocked()).toBe(false);
    expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect((await fairQueue(stage())).waiters).toEqual(['waiter:1']);
    await redisson.giveUp('waiter:1');
  });

  test('takes turns with waiters of Redisson', async () => {
    const { mine, theirs, key } = stage();
    const redisson = new RedissonFairWaiters(stage());
    const lease = await mine.mutex(key, FAIR).acquire();
    const { lease: second } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    await redisson.acquire('waiter:1');
    const { lease: fourth } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    await lease.release();
    await (await second).release();
    expect(await stage().command('EXISTS', key)).toBe(0);
    expect(await redisson.acquire('waiter:1')).toBe(true);
    expect(await stage().fields(key)).toEqual({ 'waiter:1': '1' });

    await stage().command('DEL', key); // its release; the message only triggers a look
    await stage().command(
      stage().publish,
      stage().names.waiterChannel((await fairQueue(stage())).waiters[0]!),
      '0',
    );
    await (await fourth).release();
  });

  it('keeps the place of a client that waits for longer than several deadlines', async () => {
    const options = { watchdogTimeout: 1_200, fairLockWaitTimeout: 300 };
    const clients = await Promise.all([1, 2, 3].map(() => stage().client(options)));
    const redisson = new RedissonFairWaiters(stage(), 300);
    const first = await clients[0]!.mutex(stage().key, FAIR).acquire();
    const line = await lineUp(clients, 3);
    const begin = await fairQueue(stage());
    const isOver = (now: number) => now > begin.now + 1.25 * (begin.deadlines.at(-1)! - begin.now);
    for (let seen = begin; !isOver(seen.now); seen = await fairQueue(stage())) {
      expect(seen.waiters).toEqual(begin.waiters);
      await redisson.dropOverdue();
      await delay(20);
    }
    await first.release();
    expect(await line.served()).toEqual(numbers(3));
  });

  it('keeps the place of a client that waits behind a waiter that does not come and is dropped', async () => {
    const options = { watchdogTimeout: 1_200, fairLockWaitTimeout: 300 };
    const clients = await Promise.all([1, 2, 3].map(() => stage().client(options)));
    const redisson = new RedissonFairWaiters(stage(), 300);
    const first = await clients[0]!.mutex(stage().key, FAIR).acquire();
    await redisson.acquire('dead:1', { wait: 1_000 });
    const line = await lineUp(clients, 6);
    await first.release();
    expect(await line.served()).toEqual(numbers(6));
  });

  it('keeps the place of a client that is slower than the others expect, as long as it is known to be alive', async () => {
    const client = await stage().client({ watchdogTimeout: 3_000, fairLockWaitTimeout: 20 });
    const first = await client.mutex(stage().key, FAIR).acquire();
    await stage().command('PERSIST', stage().key); // the lock does not expire, so the deadlines consist only of the waits
    const line = await lineUp([client], 3);
    const { waiters, deadlines } = await fairQueue(stage());
    await eventually('they are overdue', async () => {
      const { now } = await fairQueue(stage());
      return now > deadlines.at(-1)!;
    });
    expect(await client.mutex(stage().key, FAIR).tryAcquire()).toBeUndefined();
    expect((await fairQueue(stage())).waiters).toEqual(waiters);
    await first.release();
    expect(await line.served()).toEqual(numbers(3));
  });

  /** Queues that many waiters, one behind the other. */
  async function lineUp(clients: readonly RedisLockClient[], count: number) {
    const served: number[] = [];
    const visits: Promise<void>[] = [];
    for (const visitor of numbers(count)) {
      const client = clients[visitor % clients.length]!;
      const { lease } = await stage().queue(client, client.mutex(stage().key, FAIR));
      const visit = async () => {
        const held = await lease;
        served.push(visitor);
        await held.release();
      };
      visits.push(visit());
    }
    return { served: () => Promise.all(visits).then(() => served) };
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
