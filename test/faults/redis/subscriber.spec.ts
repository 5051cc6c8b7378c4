import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { calm, eventually, isSettled } from '../../support/time.js';
import { byTier } from '../../support/tier.js';
import { EXCLUSIVE_KINDS, SEMAPHORES } from '../support/redis-kinds.js';
import { useRedisStage } from '../support/redis-stage.js';

const WAITERS = 20;
/** Far less than a waiter sleeps that is not woken and does not look, in ms. */
const SOON = 3_000;

const stage = useRedisStage();

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';

const KILLS = [
  ['by CLIENT KILL', () => stage.server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')],
  ['by the network', async () => stage.proxy.cut(isSubscribe)],
] as const;

/** How long it takes from now, in ms. */
async function timeOf(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

describe('When the connection of a subscriber is killed while 20 wait', () => {
  let holder: RedisLockClient;

  beforeEach(async () => void (holder = await stage.near()));

  describe.each(KILLS)('%s', (_kill, kill) => {
    it.each(EXCLUSIVE_KINDS)('for a $name each, all are granted soon', async ({ of }) => {
      const keys = Array.from({ length: WAITERS }, (_, n) => `${stage.key} ${n}`);
      const held = await Promise.all(keys.map((name) => of(holder, name).acquire()));
      const locks = await stage.far();
      const queued = keys.map((name) => of(locks, name).acquire());
      await stage.subscribed(WAITERS);
      await kill();
      await Promise.all(held.map((lease) => lease.release()));
      const granted = Promise.all(queued);
      expect(await timeOf(granted)).toBeLessThan(SOON);
      expect((await granted).every(({ isHeld }) => isHeld)).toBe(true);
    });

    it.each(EXCLUSIVE_KINDS)(
      'for the same $name, none sleeps until the lease ends',
      async (kind) => {
        const isSemaphore = SEMAPHORES.some((semaphore) => semaphore === kind);
        const wanted = (permits: number) => (isSemaphore ? { permits } : {});
        const lease = await kind.of(holder, stage.key).acquire(wanted(3));
        const all = await Promise.all(Array.from({ length: WAITERS }, () => stage.far()));
        const grants: number[] = [];
        const served = async (locks: RedisLockClient, n: number) => {
          const granted = await kind.of(locks, stage.key).acquire(wanted(1 + (n % 3)));
          grants.push(performance.now());
          await granted.release();
        };
        const queued = all.map(served);
        await stage.subscribed(WAITERS);
        await kill();
        await lease.release();
        grants.push(performance.now());
        await Promise.all(queued);
        grants.sort((a, b) => a - b); // some are served while the release is answered
        const gaps = grants.slice(1).map((time, n) => time - grants[n]!);
        expect(gaps).toHaveLength(WAITERS);
        expect(Math.max(...gaps)).toBeLessThan(SOON);
      },
    );

    it('for permits without an owner, none sleeps until the lease ends', async () => {
      const semaphore = holder.plainSemaphore(stage.key);
      await semaphore.trySetPermits(3);
      await semaphore.acquire({ permits: 3 });
      const all = await Promise.all(Array.from({ length: WAITERS }, () => stage.far()));
      const queued = all.map((locks) => locks.plainSemaphore(stage.key).using(() => {}));
      await stage.subscribed(WAITERS);
      await kill();
      await semaphore.release(3);
      expect(await timeOf(Promise.all(queued))).toBeLessThan(SOON);
      expect(await semaphore.availablePermits()).toBe(3);
    });
  });

  it.each(EXCLUSIVE_KINDS)(
    'and does not come back, a waiter for a $name looks by itself',
    async ({ of }) => {
      const { key, proxy } = stage;
      const lease = await of(holder, key).acquire();
      const queued = of(await stage.far(), key).acquire();
      await stage.subscribed(1);
      const loss = proxy.loseReply(isSubscribe);
      proxy.cut(isSubscribe);
      await eventually('it is tried in vain', () => loss.lost >= 2);
      await lease.release();
      expect(await timeOf(queued)).toBeLessThan(SOON);
      expect(await queued).toMatchObject({ isHeld: true });
    },
  );

  it.each([EXCLUSIVE_KINDS[0]!, ...SEMAPHORES])(
    'again and again, messages wake the waiter for a $name',
    async ({ of }) => {
      const locks = await stage.far();
      for (let n = 0; n < byTier({ quick: 1, standard: 2, long: 5 }); n++) {
        const lease = await of(holder, stage.key).acquire();
        const queued = of(locks, stage.key).acquire();
        await stage.subscribed(1);
        await stage.server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await stage.subscribed(1);
        await calm(() => stage.proxy.commands.length);
        await lease.release();
        expect(await timeOf(queued)).toBeLessThan(SOON);
        await (await queued).release();
      }
    },
  );
});

describe('When 20 wait for a latch', () => {
  let locks: RedisLockClient;
  let opened: Promise<void>[];

  beforeEach(async () => {
    const { key } = stage;
    locks = await stage.near();
    await locks.countDownLatch(key).trySetCount(2);
    const waiters = await Promise.all(Array.from({ length: WAITERS }, () => stage.far()));
    opened = waiters.map((waiter) => waiter.countDownLatch(key).await());
    await stage.subscribed(WAITERS);
  });

  const isAnyOpen = () => isSettled(Promise.race(opened));

  /** Counts down to 0; resolves to how long it took until all went on. */
  async function open(): Promise<number> {
    const latch = locks.countDownLatch(stage.key);
    expect(await latch.countDown()).toBe(1);
    expect(await isAnyOpen()).toBe(false);
    expect(await latch.countDown()).toBe(0);
    return timeOf(Promise.all(opened));
  }

  it.each(KILLS)(
    'and the connections of subscribers are killed (%s), all go on soon',
    async (_, kill) => {
      await kill();
      expect(await open()).toBeLessThan(SOON);
    },
  );

  it('and all connections break, all go on soon', async () => {
    stage.proxy.cut();
    expect(await open()).toBeLessThan(SOON);
  });

  it('and Redis does not answer for a while, all go on when it does', async () => {
    stage.server.freeze();
    const counted = open();
    expect(await isAnyOpen()).toBe(false);
    stage.server.thaw();
    expect(await counted).toBeLessThan(SOON);
  });

  it('and Redis forgets it, all go on: what is not there is open', async () => {
    await stage.server.kill();
    expect(await isAnyOpen()).toBe(false);
    await stage.server.restart();
    await Promise.all(opened);
    expect(await locks.countDownLatch(stage.key).getCount()).toBe(0);
  });
});
