import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import { eventually, isSettled } from '../support/time.js';
import { type SemaphoreStage, ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import type { LockStage } from './backends/stage.js';
import type { Client, Stage } from './backends/zookeeper.js';

/** The accidents that every backend can have. */
export function semaphoreFaultsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('servers go and come back: holders and waiters are still there, and nothing is orphaned (Curator: testAcquireAfterLostServer)', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const token = await holder.fencingToken();
    const { lease: waiting } = await semaphores.queue(theirs, 2);
    await semaphores.becomes({ held: 2, waiting: 1 });
    await stage().down();
    const late = semaphores.of(theirs, 2).acquire();
    await stage().up();
    expect([holder.isHeld, holder.signal.aborted]).toEqual([true, false]);

    await holder.release();
    const next = await waiting;
    expect(await next.fencingToken()).toBeGreaterThan(token);
    await (await late).release();
    await next.release();
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('servers are away: waits end on time, and a release goes on when they are back', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 1).acquire();
    await stage().down();
    const semaphore = semaphores.of(theirs, 1);
    await expect(semaphore.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(semaphore.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    const patient = semaphore.acquire();
    await holder.release();
    await stage().up();
    await (await patient).release();
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('the servers forget a waiter: it waits again, and is served', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const { lease: front } = await semaphores.queue(theirs, 2, { permits: 2 });
    const { lease: behind } = await semaphores.queue(mine, 2, { permits: 2 });
    await stage().expire(theirs);
    await semaphores.becomes({ held: 2, waiting: 2, next: 2 });
    await holder.release();
    const served: string[] = [];
    const serve = async (name: string, waiting: Promise<Lease>) => {
      const lease = await waiting;
      served.push(name);
      expect(await semaphores.of(theirs, 2).tryAcquire()).toBeUndefined();
      await semaphores.becomes({ held: 2, waiting: 2 - served.length, next: 2 });
      await lease.release();
    };
    await Promise.all([serve('forgotten', front), serve('behind', behind)]);
    expect(semaphores.isFair ? served : served.sort()).toEqual(['behind', 'forgotten']);
  });

  it('the servers forget a waiter while some of what it wants is free: it gets all of it, later', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire();
    const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await stage().expire(theirs);
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await holder.release();
    await using lease = await waiting;
    expect(lease.isHeld).toBe(true);
    await semaphores.becomes({ held: 2, waiting: 0 });
  });
}

/** The accidents that the znodes of a semaphore can have. */
export function semaphoreNodesFaultsSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  describe('the session ends', () => {
    it('while it waits at the gate: it queues again, and those behind move up', async () => {
      const { mine, theirs } = stage();
      const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const { lease: front } = await semaphores.queue(theirs, 2, { permits: 2 });
      const { lease: behind } = await semaphores.queue(mine, 2, { permits: 2 });
      await stage().expire(theirs);
      await semaphores.nodesBecome({ leases: 4, gate: 2 });
      await holder.release();
      const second = await behind;
      expect(await semaphores.of(theirs, 2).tryAcquire()).toBeUndefined();
      await second.release();
      await using third = await front;
      expect(third.isHeld).toBe(true);
      expect(await semaphores.leases()).toHaveLength(2);
    });

    it('while it waits behind the gate: it queues again', async () => {
      const { mine, theirs } = stage();
      const holder = await semaphores.of(mine, 1).acquire();
      const { lease: front } = await semaphores.queue(mine, 1);
      const { lease: behind } = await semaphores.queue(theirs, 1);
      await semaphores.nodesBecome({ leases: 2, gate: 2 });
      const [, old] = await semaphores.gate();
      await stage().expire(theirs);
      await eventually('it queues again', async () => {
        const gate = await semaphores.gate();
        return gate.length === 2 && !gate.includes(old!);
      });
      await holder.release();
      await (await front).release();
      await (await behind).release();
    });

    it('while one of its two permits is free: it is never granted on a lease of the old one', async () => {
      const { mine, theirs } = stage();
      const holder = await semaphores.of(mine, 2).acquire();
      const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
      await semaphores.nodesBecome({ leases: 3, gate: 1 });
      const before = await semaphores.leases();
      await stage().expire(theirs);
      const after = await eventually('it has made others', async () => {
        const leases = await semaphores.leases();
        return (
          leases.length === 3 && leases.every((it, n) => n === 0 || it !== before[n]) && leases
        );
      });
      expect(after[0]).toBe(before[0]);
      await holder.release();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
      expect(await semaphores.leases()).toEqual(after.slice(1));
    });
  });

  describe('another client deletes', () => {
    it("the waiter's lease: it makes another, and none is left (Curator: testNoOrphanedNodes)", async () => {
      const { mine, theirs, stranger, path } = stage();
      const holder = await semaphores.of(mine, 1).acquire();
      const { lease: waiting } = await semaphores.queue(theirs, 1);
      await semaphores.nodesBecome({ leases: 2, gate: 1 });
      const [, old] = await semaphores.leases();
      await stranger.delete(`${path}/leases/${old}`);
      await eventually('it has another', async () => {
        const leases = await semaphores.leases();
        return leases.length === 2 && leases[1] !== old;
      });
      await holder.release();
      const lease = await waiting;
      expect(await semaphores.leases()).toHaveLength(1);
      await lease.release();
      await semaphores.nodesBecome({ leases: 0, gate: 0 });
    });

    it("one of the waiter's three leases: it is granted when it has three again", async () => {
      const { mine, theirs, stranger, path } = stage();
      const holder = await semaphores.of(mine, 3).acquire();
      const { lease: waiting } = await semaphores.queue(theirs, 3, { permits: 3 });
      await semaphores.nodesBecome({ leases: 4, gate: 1 });
      const [, victim] = await semaphores.leases();
      await stranger.delete(`${path}/leases/${victim}`);
      await holder.release();
      const lease = await waiting;
      expect(lease.isHeld).toBe(true);
      expect(await semaphores.leases()).toHaveLength(3);
      expect(await semaphores.of(mine, 3).tryAcquire()).toBeUndefined();
      await lease.release();
      await semaphores.nodesBecome({ leases: 0, gate: 0 });
    });

    it("the waiter's place at the gate: no more are granted than there are", async () => {
      const { mine, theirs, stranger, path } = stage();
      const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const inside = new Set<string>();
      let most = 0;
      const visit = async (who: string, lease: Promise<AsyncDisposable>) => {
        await using _ = await lease;
        most = Math.max(most, inside.add(who).size);
        await stranger.sync('/'); // a turn of the servers
        inside.delete(who);
      };
      const { lease: front } = await semaphores.queue(theirs, 2, { permits: 2 });
      await semaphores.nodesBecome({ leases: 4, gate: 1 });
      const { lease: behind } = await semaphores.queue(mine, 2, { permits: 2 });
      const visits = [visit('front', front), visit('behind', behind)];
      const [first] = await semaphores.gate();
      await stranger.delete(`${path}/locks/${first}`);
      await eventually('the next one is there', async () => {
        const [gate, leases] = [await semaphores.gate(), await semaphores.leases()];
        return !gate.includes(first!) && gate.length === 2 && leases.length === 4;
      });
      expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
      await holder.release();
      await Promise.all(visits);
      expect(most).toBe(1);
      await semaphores.nodesBecome({ leases: 0, gate: 0 });
    });

    it('the place at the gate of the only waiter: it takes another at once', async () => {
      const { mine, theirs } = stage();
      const holder = await semaphores.of(mine, 1).acquire();
      const { lease: waiting } = await semaphores.queue(theirs, 1);
      await semaphores.nodesBecome({ leases: 2, gate: 1 });
      const [old] = await semaphores.gate();
      await stage().stranger.delete(`${stage().path}/locks/${old}`);
      await eventually('it has another', async () => {
        const gate = await semaphores.gate();
        return gate.length === 1 && gate[0] !== old;
      });
      await holder.release();
      await (await waiting).release();
    });

    it('the lease of a holder: the next one gets in, and the others stay', async () => {
      const { mine, theirs, stranger, path } = stage();
      await using kept = await semaphores.of(mine, 2).acquire();
      await using lost = await semaphores.of(mine, 2).acquire();
      await lost.fencingToken(); // it watches its node from now on
      const { lease: waiting } = await semaphores.queue(theirs, 2);
      await semaphores.nodesBecome({ leases: 3, gate: 1 });
      const [, node] = await semaphores.leases();
      await stranger.delete(`${path}/leases/${node}`);
      await using next = await waiting;
      await eventually('the holder learns of the loss', () => !lost.isHeld);
      expect([kept.isHeld, next.isHeld]).toEqual([true, true]);
    });
  });
}

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
