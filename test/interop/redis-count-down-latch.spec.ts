import { expect, it } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import type { Peer } from './support/peer.js';
import { took } from './support/took.js';

/** In ms. Node looks every 5 s whether or not it was woken, Java never does: a waiter that continues sooner was woken. */
const SOON = 3_000;

describeWithRedisson('A count-down latch', (stage) => {
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
    expect(await second.await(300)).toBe(false);
    await first.countDown();
    expect(await took(Promise.all(opened))).toBeLessThan(SOON);
    expect(await Promise.all(opened)).toEqual([true, true, true]);
    for (const user of [first, second]) expect(await user.count()).toBe(0);
    expect(await log.published(stage.name)).toEqual([message('1'), message('0')]);
    await stage.emptyBut([]);
  });

  it.each(stage.ways)(
    'opens for the other side when it is counted down where $title',
    async (way) => {
      const [counter, waiter] = [of(way.first()), of(way.second())];
      await waiter.trySetCount(1);
      const log = await stage.log();
      const opened = waiter.await();
      await stage.asleep(way.second(), stage.names.latchChannel, log);
      await counter.countDown();
      expect(await took(opened)).toBeLessThan(SOON);
    },
  );

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
