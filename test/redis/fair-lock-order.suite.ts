import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { fairQueue } from './fair-queue.js';
import { RedissonFairWaiters } from './redisson-fair-waiters.js';
import type { RedisStage } from './redis-stage.js';

const FAIR = { fair: true };

/** First come, first served; across clients, and however long it takes. */
export function fairLockOrderSuite(stage: () => RedisStage): void {
  it('serves 50 waiters of five clients in the order they queued (Redisson: RedissonFairLockTest testConcurrency_MultiInstance_Ordering)', async () => {
    const clients = await Promise.all([1, 2, 3, 4, 5].map(() => stage().client()));
    const first = await stage().mine.mutex(stage().key, FAIR).acquire();
    const line = await lineUp(clients, 50);
    await first.release();
    expect(await line.served()).toEqual(numbers(50));
  });

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
    for (const visitor of numbers(8)) {
      const client = visitor % 2 === 0 ? mine : theirs;
      const { lease } = await stage().queue(client, client.mutex(key, FAIR), { lease: 300 });
      leases.push(lease);
      void lease.then(() => served.push(visitor));
    }
    const held = await Promise.all(leases);
    expect(served).toEqual(numbers(8));
    expect(performance.now() - begin).toBeLessThan(8 * 300 + 3_000);
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

  it('takes turns with waiters of Redisson', async () => {
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
      stage().isCluster ? 'SPUBLISH' : 'PUBLISH',
      stage().names.waiterChannel((await fairQueue(stage())).waiters[0]!),
      '0',
    );
    await (await fourth).release();
  });

  it('keeps the place of a client that waits for longer than several deadlines', async () => {
    const options = { watchdogTimeout: 1_500, fairLockWaitTimeout: 300 };
    const clients = await Promise.all([1, 2, 3].map(() => stage().client(options)));
    const redisson = new RedissonFairWaiters(stage(), 300);
    const first = await clients[0]!.mutex(stage().key, FAIR).acquire();
    const line = await lineUp(clients, 3);
    const begin = await fairQueue(stage());
    const isOver = (now: number) => now > begin.now + 2 * (begin.deadlines.at(-1)! - begin.now);
    for (let seen = begin; !isOver(seen.now); seen = await fairQueue(stage())) {
      expect(seen.waiters).toEqual(begin.waiters);
      await redisson.dropOverdue();
      await delay(20);
    }
    await first.release();
    expect(await line.served()).toEqual(numbers(3));
  });

  it('keeps the place of a client that waits behind a waiter that does not come and is dropped', async () => {
    const options = { watchdogTimeout: 1_500, fairLockWaitTimeout: 300 };
    const clients = await Promise.all([1, 2, 3].map(() => stage().client(options)));
    const redisson = new RedissonFairWaiters(stage(), 300);
    const first = await clients[0]!.mutex(stage().key, FAIR).acquire();
    await redisson.acquire('dead:1', { wait: 2_000 });
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
