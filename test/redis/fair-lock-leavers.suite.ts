import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { eventually } from '../support/eventually.js';
import { fairQueue } from './fair-queue.js';
import { RedissonFairWaiters } from './redisson-fair-waiters.js';
import type { RedisStage } from './redis-stage.js';
import { scriptCalls } from './script-calls.js';
import { startLockUser } from './start-lock-user.js';

const FAIR = { fair: true };
/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const AT_ONCE = 3_000;

/** A waiter that leaves the queue, in whatever way, does not keep the others waiting. */
export function fairLockLeaversSuite(stage: () => RedisStage): void {
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

  it('removes all waiters of a client that closes', async () => {
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

  it('wakes the next when the first leaves a lock that is free', async () => {
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
