import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import type { Peer } from './support/peer.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';
import { took } from './support/took.js';

/** In ms. No long lease ends during a test, and a waiter that is not woken looks after 30 s: a waiter served soon was woken. */
const LONG = 3_600_000;
const SHORT = 1_500;
const SOON = 10_000;

describeWithRedisson('A permit-expirable semaphore', (stage) => {
  const of = (peer: Peer) => peer.redisPermits(stage.name);
  const nobody = [3, 0, 3];

  it.each(stage.ways)('counts the permits of both where $title', async (way) => {
    const [first, second] = [of(way.first()), of(way.second())];
    expect(await first.trySetPermits(3)).toBe(true);
    expect(await second.trySetPermits(5)).toBe(false);
    expect(await first.acquire({ permits: 2, lease: LONG })).toHaveLength(2);
    expect(await second.acquire({ lease: LONG })).toHaveLength(1);
    expect(await second.acquire({ wait: 300 })).toBeUndefined();
    expect(await first.acquire({ wait: 300 })).toBeUndefined();
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
      await eventually('it waits', async () => (await sleepersOf(way.second())) === 1);
      expect(await far.counts()).toEqual([1, 1, 2]);
      await far.release();
      expect(await took(granted)).toBeLessThan(SOON);
    },
  );

  it.each(stage.ways)('wakes all waiters that one release can serve while $title', async (way) => {
    const holder = of(way.first());
    await holder.trySetPermits(3);
    await holder.acquire({ permits: 3, lease: LONG });
    const log = await stage.log();
    const granted = [1, 2, 3].map(() => of(way.second()).acquire({ lease: LONG }));
    await stage.asleep(way.second(), stage.names.semaphoreChannel, log, 3);
    await holder.release();
    expect(await took(Promise.all(granted))).toBeLessThan(SOON);
    expect(new Set((await Promise.all(granted)).flat()).size).toBe(3);
  });

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
    expect(await node.acquire({ wait: 300 })).toBeUndefined();
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
    await eventually('it waits', async () => (await sleepersOf(way.second())) === 1);
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
      expect(await java.acquire({ wait: 3 * SHORT })).toBeUndefined();
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
      await of(peer).acquire({ permits: 2, lease: 2 * SHORT });
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

/** How many actors wait in that process. */
async function sleepersOf(peer: Peer): Promise<number> {
  return peer.redisActor().sleepers();
}
