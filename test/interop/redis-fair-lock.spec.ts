import { expect, it } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';

/** In ms. */
const LONG = 3_600_000;

/** It asks the server every third of its watchdog timeout, so not before it receives a message. */
const patientNode = {
  title: 'Node',
  start: (urls: readonly string[]) => startRedisNodePeer(urls, { watchdogTimeout: LONG }),
};

describeWithRedisson(
  'A fair lock',
  (stage) => {
    const lockOf = () => `fair:${stage.name}`;

    redisExclusionSuite(stage, { kind: 'fair', channel: () => stage.names.channel });

    it.each(stage.ways)('is granted in the order of arrival while $title', async (way) => {
      const lock = lockOf();
      const [first, second] = [way.first(), way.second()];
      const holder = first.redisActor();
      await holder.acquire(lock, { lease: LONG });
      const order: number[] = [];
      const served: Promise<void>[] = [];
      for (const [place, peer] of [second, first, second, second, first, first].entries()) {
        const waiter = peer.redisActor();
        const turn = async () => {
          if (await waiter.acquire(lock, { lease: LONG })) order.push(place);
          await waiter.release(lock);
        };
        served.push(turn());
        await stage.queued(place + 1);
      }
      await holder.release(lock);
      await Promise.all(served);
      expect(order).toEqual([0, 1, 2, 3, 4, 5]);
      await stage.emptyBut([]);
    });

    it.each(stage.ways)('is not acquired past a waiter while $title', async (way) => {
      const lock = lockOf();
      const [holder, waiter] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(lock, { lease: LONG });
      const granted = waiter.acquire(lock, { lease: LONG });
      await stage.queued(1);
      const grantedNext = holder.release(lock).then(() => holder.acquire(lock, { lease: LONG }));
      expect(await granted).toBe(true);
      await stage.queued(1);
      expect(await way.first().redisActor().tryAcquire(lock)).toBe(false);
      await waiter.release(lock);
      expect(await grantedNext).toBe(true);
    });

    it.each(stage.ways)('skips a waiter that gave up while $title', async (way) => {
      const lock = lockOf();
      const holder = way.first().redisActor();
      await holder.acquire(lock, { lease: LONG });
      const gaveUp = way.second().redisActor().acquire(lock, { wait: 500 });
      await stage.queued(1);
      const [near, far] = [way.first().redisActor(), way.second().redisActor()];
      const grantedNear = near.acquire(lock, { lease: LONG });
      await stage.queued(2);
      const grantedFar = far.acquire(lock, { lease: LONG });
      await stage.queued(3);
      expect(await gaveUp).toBe(false);
      await stage.queued(2);
      await holder.release(lock);
      expect(await grantedNear).toBe(true);
      await near.release(lock);
      expect(await grantedFar).toBe(true);
    });

    it('skips a Java process that died in the queue, once its time is over', async () => {
      const lock = lockOf();
      const dying = await startRedissonPeer(stage.deployment.urls);
      const [node, java] = [stage.one.redisActor(), stage.other.redisActor()];
      const holder = stage.one.redisActor();
      await holder.acquire(lock, { lease: 1_000 });
      const died = dying.redisActor().acquire(lock, { wait: 1_000 });
      await stage.queued(1);
      await Promise.all([dying.stop(), expect(died).rejects.toThrow('has ended')]);
      const granted = [node.acquire(lock, { lease: LONG }), java.acquire(lock, { lease: LONG })];
      const first = await Promise.race(granted.map((it, n) => it.then(() => n)));
      await [node, java][first]!.release(lock);
      expect(await Promise.all(granted)).toEqual([true, true]);
    });

    it('skips a Node process that died in the queue, by means of another Node process', async () => {
      const lock = lockOf();
      const holder = stage.other.redisActor();
      await holder.acquire(lock, { lease: LONG });
      const options = { watchdogTimeout: 1_000 };
      const [dying, survivor] = await Promise.all(
        [1, 2].map(() => startRedisNodePeer(stage.deployment.urls, options)),
      );
      try {
        const died = dying!.redisActor().acquire(lock);
        await stage.queued(1);
        const java = stage.other.redisActor();
        const granted = java.acquire(lock, { lease: LONG });
        await stage.queued(2);
        const node = survivor!.redisActor();
        const grantedLast = node.acquire(lock);
        await stage.queued(3);
        await Promise.all([dying!.stop(), expect(died).rejects.toThrow('has ended')]);
        await holder.release(lock); // notifies the dead one
        expect(await granted).toBe(true);
        await java.release(lock);
        expect(await grantedLast).toBe(true);
      } finally {
        await Promise.all([dying!.stop(), survivor!.stop()]);
      }
    });
  },
  patientNode,
);
