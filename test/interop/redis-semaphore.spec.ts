import { expect, it } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import type { Peer } from './support/peer.js';
import { took } from './support/took.js';

/** In ms. Node looks every 5 s whether or not it was woken, Java never does: a waiter that is served sooner was woken. */
const SOON = 3_000;

describeWithRedisson('A semaphore', (stage) => {
  const of = (peer: Peer) => peer.redisSemaphore(stage.name);
  const message = (text: string) => `${stage.publish} ${stage.names.semaphoreChannel} ${text}`;

  it.each(stage.ways)('counts the permits of both where $title', async (way) => {
    const [first, second] = [of(way.first()), of(way.second())];
    expect(await first.trySetPermits(3)).toBe(true);
    expect(await second.trySetPermits(5)).toBe(false);
    expect(await first.acquire({ permits: 2 })).toBe(true);
    expect(await second.acquire()).toBe(true);
    expect(await second.acquire({ wait: 300 })).toBe(false);
    expect(await first.acquire({ wait: 300 })).toBe(false);

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
      expect(await first.acquire({ wait: 300 })).toBe(false);
      await second.release();
      expect(await first.acquire()).toBe(true);
    },
  );

  it.each(stage.ways)('is drained for both where $title', async (way) => {
    const [first, second] = [of(way.first()), of(way.second())];
    await first.trySetPermits(4);
    await first.acquire();
    expect(await second.drainPermits()).toBe(3);
    expect(await first.acquire({ wait: 300 })).toBe(false);
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
