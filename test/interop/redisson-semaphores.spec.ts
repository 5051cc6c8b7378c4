import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import type { Peer } from './support/peer.js';
import { describeWithRedisson, NODE, took } from './support/redis-stage.js';
import { startRedisNodePeer, startRedissonPeer } from './support/start-peers.js';

/** In ms. No long lease ends during a test. */
const LONG = 3_600_000;
const SHORT = 1_500;
/** In ms. Node looks every 5 s whether or not it was woken, Java never does: a waiter that is served sooner was woken. */
const SOON = 3_000;

describeWithRedisson(NODE, (stage) => {
  describe('a semaphore', () => {
    const of = (peer: Peer) => peer.redisSemaphore(stage.name);
    const message = (text: string) => `${stage.publish} ${stage.names.semaphoreChannel} ${text}`;

    it.each(stage.ways)('counts the permits of both where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      expect(await first.trySetPermits(3)).toBe(true);
      expect(await second.trySetPermits(5)).toBe(false);
      expect(await first.acquire({ permits: 2 })).toBe(true);
      expect(await second.acquire()).toBe(true);
      expect(await second.acquire({ wait: 100 })).toBe(false);
      expect(await first.acquire({ wait: 100 })).toBe(false);

      await second.release();
      expect(await second.availablePermits()).toBe(1);
      expect(await first.acquire()).toBe(true);
      expect(await second.availablePermits()).toBe(0);
    });

    it.each(stage.ways)('wakes a waiter for a permit while $title', async (way) => {
      const [holder, waiter] = [of(way.first()), of(way.second())];
      await holder.trySetPermits(1);
      await holder.acquire();
      const log = await stage.log();
      const granted = waiter.acquire();
      await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
      await holder.release();
      expect(await took(granted)).toBeLessThan(SOON);
      expect(await log.published(stage.name)).toEqual([message('1')]);
    });

    it.each(stage.ways)('wakes as many waiters as can be served while $title', async (way) => {
      const holder = of(way.first());
      await holder.trySetPermits(3);
      await holder.acquire({ permits: 3 });
      const log = await stage.log();
      const granted = [1, 2, 3].map(() => of(way.second()).acquire());
      await stage.asleep(way.second(), stage.names.semaphoreChannel, log, 3);
      await holder.release(3);
      expect(await took(Promise.all(granted))).toBeLessThan(SOON);
      expect(await holder.availablePermits()).toBe(0);
    });

    it.each(stage.ways)(
      'wakes a waiter for two permits once there are two while $title',
      async (way) => {
        const [holder, waiter] = [of(way.first()), of(way.second())];
        await holder.trySetPermits(2);
        await holder.acquire({ permits: 2 });
        const log = await stage.log();
        const granted = waiter.acquire({ permits: 2 });
        await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
        await holder.release();
        await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
        expect(await holder.availablePermits()).toBe(1);
        await holder.release();
        expect(await took(granted)).toBeLessThan(SOON);
        expect(await log.published(stage.name)).toEqual([message('1'), message('2')]);
      },
    );

    it.each(stage.ways)('lets more holders in when permits are added while $title', async (way) => {
      const [holder, waiter] = [of(way.first()), of(way.second())];
      await holder.trySetPermits(1);
      await holder.acquire();
      const log = await stage.log();
      const granted = waiter.acquire({ permits: 2 });
      await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
      await holder.addPermits(2);
      expect(await took(granted)).toBeLessThan(SOON);
    });

    it.each(stage.ways)(
      'may have a negative number of permits, for the other side too, where $title',
      async (way) => {
        const [first, second] = [of(way.first()), of(way.second())];
        await first.trySetPermits(1);
        await first.addPermits(-3);
        expect(await second.availablePermits()).toBe(-2);
        await second.release(2);
        expect(await first.acquire({ wait: 100 })).toBe(false);
        await second.release();
        expect(await first.acquire()).toBe(true);
      },
    );

    it.each(stage.ways)('is drained for both where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      await first.trySetPermits(4);
      await first.acquire();
      expect(await second.drainPermits()).toBe(3);
      expect(await first.acquire({ wait: 100 })).toBe(false);
      expect(await first.releaseIfExists(2)).toBe(true);
      expect(await second.acquire({ permits: 2 })).toBe(true);
      await stage.command('DEL', stage.name);
      expect(await second.releaseIfExists(2)).toBe(false);
      expect(await first.releaseIfExists(2)).toBe(false);
    });

    it('is a number, and serves all waiters', async () => {
      await of(stage.one).trySetPermits(2);
      const peers = Array.from({ length: 10 }, (_, n) => (n % 2 ? stage.other : stage.one));
      const turns = peers.map(of).map(async (user) => {
        expect(await user.acquire()).toBe(true);
        await user.release();
      });
      await Promise.all(turns);
      expect(await stage.command('GET', stage.name)).toBe('2');
      await stage.emptyBut([stage.name]);
    });
  });

  describe('a permit-expirable semaphore', () => {
    /** In ms. A waiter that is not woken looks after 30 s. */
    const SOON = 10_000;
    const of = (peer: Peer) => peer.redisPermits(stage.name);
    const nobody = [3, 0, 3];

    it.each(stage.ways)('counts the permits of both where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      expect(await first.trySetPermits(3)).toBe(true);
      expect(await second.trySetPermits(5)).toBe(false);
      expect(await first.acquire({ permits: 2, lease: LONG })).toHaveLength(2);
      expect(await second.acquire({ lease: LONG })).toHaveLength(1);
      expect(await second.acquire({ wait: 100 })).toBeUndefined();
      expect(await first.acquire({ wait: 100 })).toBeUndefined();
      for (const user of [first, second]) expect(await user.counts()).toEqual([0, 3, 3]);

      await second.release();
      for (const user of [first, second]) expect(await user.counts()).toEqual([1, 2, 3]);
      await first.release();
      for (const user of [first, second]) expect(await user.counts()).toEqual(nobody);
      await stage.emptyBut([stage.name]);
    });

    it.each(stage.ways)('wakes a waiter for a permit while $title', async (way) => {
      const [holder, waiter] = [of(way.first()), of(way.second())];
      await holder.trySetPermits(1);
      await holder.acquire({ lease: LONG });
      const log = await stage.log();
      const granted = waiter.acquire({ lease: LONG });
      await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
      await holder.release();
      expect(await took(granted)).toBeLessThan(SOON);
      expect(await log.published(stage.name)).toEqual([
        `${stage.publish} ${stage.names.semaphoreChannel} 1`,
      ]);
    });

    it.each(stage.ways)(
      'wakes a waiter for two permits once there are two while $title',
      async (way) => {
        const [near, far, waiter] = [of(way.first()), of(way.first()), of(way.second())];
        await near.trySetPermits(2);
        await near.acquire({ lease: LONG });
        await far.acquire({ lease: LONG });
        const log = await stage.log();
        const granted = waiter.acquire({ permits: 2, lease: LONG });
        await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
        await near.release();
        // It may have been woken, and found only one.
        await stage.hasSleeper(way.second());
        expect(await far.counts()).toEqual([1, 1, 2]);
        await far.release();
        expect(await took(granted)).toBeLessThan(SOON);
      },
    );

    it.each(stage.ways)(
      'wakes all waiters that one release can serve while $title',
      async (way) => {
        const holder = of(way.first());
        await holder.trySetPermits(3);
        await holder.acquire({ permits: 3, lease: LONG });
        const log = await stage.log();
        const granted = [1, 2, 3].map(() => of(way.second()).acquire({ lease: LONG }));
        await stage.asleep(way.second(), stage.names.semaphoreChannel, log, 3);
        await holder.release();
        expect(await took(Promise.all(granted))).toBeLessThan(SOON);
        expect(new Set((await Promise.all(granted)).flat()).size).toBe(3);
      },
    );

    it.each(stage.ways)('has ids that both can release where $title', async (way) => {
      const [holder, another] = [of(way.first()), of(way.second())];
      await holder.trySetPermits(3);
      const ids = (await holder.acquire({ permits: 3, lease: LONG }))!;
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(await stage.command('ZCARD', stage.names.permitTimeouts)).toBe(3);

      expect(await another.releaseIds([ids[0]!])).toBe(true);
      expect(await another.releaseIds(ids)).toBe(false); // all or none
      expect(await another.counts()).toEqual([1, 2, 3]);
      expect(await another.releaseIds(ids.slice(1))).toBe(true);
      expect(await holder.counts()).toEqual(nobody);
      expect(await holder.releaseIds(ids.slice(1))).toBe(false);
      await stage.emptyBut([stage.name]);
    });

    it.each(stage.ways)('has leases that both see and set where $title', async (way) => {
      const [holder, another] = [of(way.first()), of(way.second())];
      await holder.trySetPermits(1);
      const [id] = (await holder.acquire({ lease: LONG }))!;
      expect(await another.leaseTime(id!)).toBeLessThanOrEqual(LONG);
      expect(await another.leaseTime(id!)).toBeGreaterThan(LONG - 60_000);
      const granted = another.acquire({ lease: LONG });

      const third = of(way.second());
      expect(await third.updateLeaseTime(id!, SHORT)).toBe(true);
      expect(await of(way.first()).leaseTime(id!)).toBeLessThanOrEqual(SHORT);
      const ended = eventually('it has ended', async () => (await third.counts())[1] === 0);
      await Promise.race([ended, granted]);
      // A sleeping waiter may have seen the long lease, and receives no message: the next look by another process frees the
      // permit, because the waiters of one process wait behind each other.
      await holder.acquire({ wait: 100 }).then((ids) => ids && holder.release());
      expect(await took(granted)).toBeLessThan(SOON);
      expect(await third.updateLeaseTime(id!, LONG)).toBe(false);
    });

    it('has permits of Java that do not expire, which Node sees and can end', async () => {
      const [java, node] = [of(stage.other), of(stage.one)];
      await java.trySetPermits(1);
      const [id] = (await java.acquire())!;
      expect(await node.leaseTime(id!)).toBe(-1);
      expect(await node.acquire({ wait: 100 })).toBeUndefined();
      expect(await node.updateLeaseTime(id!, SHORT)).toBe(true);
      expect(await java.leaseTime(id!)).toBeLessThanOrEqual(SHORT);
      expect(await node.acquire()).toHaveLength(1);
    });

    it.each(stage.ways)('has as many permits as either side sets where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      await first.setPermits(2);
      await second.acquire({ permits: 2, lease: LONG });
      const log = await stage.log();
      const granted = of(way.second()).acquire({ lease: LONG });
      await stage.asleep(way.second(), stage.names.semaphoreChannel, log);
      await first.setPermits(3);
      expect(await took(granted)).toBeLessThan(SOON);
      for (const user of [first, second]) expect(await user.counts()).toEqual([0, 3, 3]);

      const grantedNext = of(way.second()).acquire({ lease: LONG });
      await stage.hasSleeper(way.second());
      await first.addPermits(1);
      expect(await took(grantedNext)).toBeLessThan(SOON);
      await first.setPermits(1);
      for (const user of [first, second]) expect(await user.counts()).toEqual([-3, 4, 1]);
      await second.release();
      for (const user of [first, second]) expect(await user.counts()).toEqual([-1, 2, 1]);
    });

    it('is renewed by Node as Java can see, and ends with its process', async () => {
      const peer = await startRedisNodePeer(stage.deployment.urls, { watchdogTimeout: SHORT });
      const java = of(stage.other);
      try {
        await java.trySetPermits(1);
        const [id] = (await of(peer).acquire())!;
        expect(await java.acquire({ wait: 2 * SHORT })).toBeUndefined();
        expect(await java.leaseTime(id!)).toBeGreaterThan(0);
        expect(await java.leaseTime(id!)).toBeLessThanOrEqual(SHORT);
      } finally {
        await peer.stop();
      }
      expect(await java.acquire({ lease: LONG })).toHaveLength(1);
      expect(await java.counts()).toEqual([0, 1, 1]);
    });

    it('is lost to Node when Java releases its permit by the id', async () => {
      const peer = await startRedisNodePeer(stage.deployment.urls, { watchdogTimeout: SHORT });
      try {
        const [node, java] = [of(peer), of(stage.other)];
        await java.trySetPermits(1);
        const ids = (await node.acquire())!;
        expect(await node.isHeld()).toBe(true);
        expect(await java.releaseIds(ids)).toBe(true);
        await eventually('Node knows', async () => !(await node.isHeld()));
        expect(await java.acquire({ lease: LONG })).toHaveLength(1);
        await expect(java.counts()).resolves.toEqual([0, 1, 1]);
      } finally {
        await peer.stop();
      }
    });

    it('is free again after a Java process was killed, once its lease ends', async () => {
      const peer = await startRedissonPeer(stage.deployment.urls);
      try {
        await of(peer).trySetPermits(2);
        await of(peer).acquire({ permits: 2, lease: SHORT });
      } finally {
        await peer.stop();
      }
      const node = of(stage.one);
      expect(await node.acquire({ permits: 2 })).toHaveLength(2);
      expect(await of(stage.other).counts()).toEqual([0, 2, 2]);
      await node.release();
      await stage.emptyBut([stage.name]);
    });
  });

  describe('a count-down latch', () => {
    const of = (peer: Peer) => peer.redisLatch(stage.name);
    const message = (text: string) => `${stage.publish} ${stage.names.latchChannel} ${text}`;

    it.each(stage.ways)('opens for both when both count down where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      const log = await stage.log();
      expect(await first.trySetCount(2)).toBe(true);
      expect(await second.trySetCount(7)).toBe(false);
      const waiters = [of(way.second()), of(way.second()), of(way.first())];
      const opened = waiters.map((waiter) => waiter.await());
      await stage.asleep(way.second(), stage.names.latchChannel, log, 2);
      await stage.asleep(way.first(), stage.names.latchChannel, log, 1);

      await second.countDown();
      for (const user of [first, second]) expect(await user.count()).toBe(1);
      expect(await second.await(100)).toBe(false);
      await first.countDown();
      expect(await took(Promise.all(opened))).toBeLessThan(SOON);
      expect(await Promise.all(opened)).toEqual([true, true, true]);
      for (const user of [first, second]) expect(await user.count()).toBe(0);
      expect(await log.published(stage.name)).toEqual([message('1'), message('0')]);
      await stage.emptyBut([]);
    });

    it.each(stage.ways)('opens for a waiter when it is deleted while $title', async (way) => {
      const [owner, waiter] = [of(way.first()), of(way.second())];
      await owner.trySetCount(3);
      const log = await stage.log();
      const opened = waiter.await();
      await stage.asleep(way.second(), stage.names.latchChannel, log);
      expect(await owner.delete()).toBe(true);
      expect(await took(opened)).toBeLessThan(SOON);
      expect(await owner.delete()).toBe(false);
      // Redisson publishes a new count, which does not wake its own waiters: they sleep on. The message of Node wakes them.
      const told = way.first() === stage.one ? '0' : '1';
      expect(await log.published(stage.name)).toEqual([message(told)]);
    });

    it.each(stage.ways)('is closed and opened again where $title', async (way) => {
      const [first, second] = [of(way.first()), of(way.second())];
      for (let round = 0; round < 3; round++) {
        expect(await first.trySetCount(1)).toBe(true);
        expect(await second.await(100)).toBe(false);
        await second.countDown();
        expect(await first.await(1_000)).toBe(true);
      }
      await second.countDown(); // it is open already
      expect(await first.count()).toBe(0);
      await stage.emptyBut([]);
    });
  });
});
