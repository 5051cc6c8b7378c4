import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/** Permits that change while the semaphore is in use. */
export function semaphoreCountSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('one more lets a waiter in (Curator: testThreadedLeaseIncrease)', async () => {
    const { mine, theirs } = stage();
    const [counts, more] = [await countOf(mine, 1), await countOf(theirs, 1)];
    await using first = await semaphores.of(mine, counts).acquire();
    const { lease: waiting } = await semaphores.queue(mine, counts);
    await semaphores.nodesBecome({ leases: 2, gate: 1 });
    await more.setCount(2);
    await using second = await waiting;
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    await expectFull(mine, counts);
  });

  it('three more let three waiters in, and no fourth', async () => {
    const { mine, theirs } = stage();
    const counts = await countOf(mine, 1);
    const theirCounts = await countOf(theirs, 1);
    const leases: Lease[] = [await semaphores.of(mine, counts).acquire()];
    const waiting = [];
    for (let n = 0; n < 4; n++) {
      const { lease } = await semaphores.queue(n % 2 ? mine : theirs, n % 2 ? counts : theirCounts);
      waiting.push(lease);
    }
    await counts.setCount(4);
    for (const lease of waiting.slice(0, 3)) leases.push(await lease);
    await semaphores.nodesBecome({ leases: 5, gate: 1 });
    expect(await isSettled(waiting[3]!)).toBe(false);
    await leases.pop()!.release();
    leases.push(await waiting[3]!);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('fewer take nothing from the holders, and no client gets in until there are few enough', async () => {
    const { mine, theirs } = stage();
    const [counts, less] = [await countOf(mine, 3), await countOf(theirs, 3)];
    const semaphore = semaphores.of(mine, counts);
    const held = [];
    for (let n = 0; n < 3; n++) held.push(await semaphore.acquire());
    await less.setCount(1);
    await eventually('it is known', () => counts.count === 1);
    expect(held.map(({ isHeld }) => isHeld)).toEqual([true, true, true]);
    for (const lease of held) {
      expect(await semaphore.availablePermits()).toBe(0);
      await expectFull(mine, counts);
      await lease.release();
    }
    expect(await semaphore.availablePermits()).toBe(1);
    await using last = await semaphore.tryAcquire();
    expect(last?.isHeld).toBe(true);
    await expectFull(mine, counts);
  });

  it('are waited for where an acquire asks for more than there are now', async () => {
    const { mine } = stage();
    const counts = await countOf(mine, 2);
    const semaphore = semaphores.of(mine, counts);
    expect(await semaphore.tryAcquire({ permits: 3 })).toBeUndefined();
    const { lease } = await semaphores.queue(mine, counts, { permits: 3 });
    await semaphores.nodesBecome({ leases: 3, gate: 1 });
    await counts.setCount(3);
    await using all = await lease;
    expect(all.isHeld).toBe(true);
  });

  it('may be none for a while', async () => {
    const { mine } = stage();
    const counts = await countOf(mine, 0);
    const semaphore = semaphores.of(mine, counts);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    await expect(semaphore.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    await semaphores.nodesBecome({ leases: 0, gate: 0 });
    const { lease } = await semaphores.queue(mine, counts);
    await counts.setCount(1);
    await (await lease).release();
  });

  it('are never more than there are, while they change all the time', async () => {
    const { mine, theirs } = stage();
    const all = [await countOf(mine, 2), await countOf(theirs, 2)];
    const [admin] = all;
    let [isOver, inside, most, visits] = [false, 0, 0, 0];
    const worker = async (client: Client, counts: SharedCount) => {
      while (!isOver) {
        await semaphores.of(client, counts).using(async () => {
          most = Math.max(most, (inside += 1));
          await stage().stranger.exists('/'); // a turn of the servers
          inside -= 1;
          visits += 1;
        });
      }
    };
    const workers = [0, 0, 1, 1].map((n) => worker([mine, theirs][n]!, all[n]!));
    for (let change = 0; change < 20; change++) {
      const sofar = visits;
      await admin!.setCount(1 + (change % 3));
      await eventually('work goes on', () => visits > sofar);
    }
    isOver = true;
    await Promise.all(workers);
    expect(most).toBeLessThanOrEqual(3);
  });

  async function countOf({ locks }: Client, seed: number): Promise<SharedCount> {
    const count = locks.sharedCount(`${stage().key}-permits`, seed);
    await count.start();
    return count;
  }

  async function expectFull(client: Client, counts: SharedCount): Promise<void> {
    expect(await semaphores.of(client, counts).tryAcquire()).toBeUndefined();
  }
}
