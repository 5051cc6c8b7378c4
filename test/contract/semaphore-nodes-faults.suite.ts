import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

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
