import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';
import { took } from './support/took.js';

/** In ms. */
const LONG = 3_600_000;
const SHORT = 1_500;
const SOON = 3_000;

describeWithRedisson('A spin lock', (stage) => {
  const lockOf = () => `spin:${stage.name}`;

  it.each(stage.ways)('excludes all others while $title', async (way) => {
    const lock = lockOf();
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    expect(await holder.acquire(lock, { lease: LONG })).toBe(true);
    expect(await another.tryAcquire(lock)).toBe(false);
    expect(await another.acquire(lock, { wait: 300 })).toBe(false);
    expect(await way.first().redisActor().tryAcquire(lock)).toBe(false);
    expect(await another.isLocked(lock)).toBe(true);
    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(true);
    expect(await holder.tryAcquire(lock)).toBe(false);
  });

  it.each(stage.ways)(
    'goes to a waiter that polls, without a message, while $title',
    async (way) => {
      const lock = lockOf();
      const [holder, waiter] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(lock, { lease: LONG });
      const log = await stage.log();
      const granted = waiter.acquire(lock, { lease: LONG });
      const asks = async () =>
        (await log.commands(stage.name)).filter((line) => /\] "evalsha" /i.test(line)).length > 3;
      await eventually('it has asked again', asks);
      await holder.release(lock);
      expect(await took(granted)).toBeLessThan(SOON);
      await waiter.release(lock);
      expect(await log.published(stage.name)).toEqual([]);
      expect((await log.commands(stage.name)).filter((it) => /subscribe"/i.test(it))).toEqual([]);
      await stage.emptyBut([]);
    },
  );

  it.each(stage.ways)('is held until its last release where $title', async (way) => {
    const lock = lockOf();
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    await holder.acquire(lock);
    await holder.acquire(lock);
    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(false);
    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(true);
  });

  it.each(stage.ways)('excludes the plain lock with that name while $title', async (way) => {
    const [spin, plain] = [lockOf(), `lock:${stage.name}`];
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    await holder.acquire(spin, { lease: LONG });
    expect(await another.tryAcquire(plain)).toBe(false);
    await holder.release(spin);
    expect(await another.tryAcquire(plain)).toBe(true);
    expect(await holder.tryAcquire(spin)).toBe(false);
  });

  it.each(stage.ways)('is free when the lease ends with which $title', async (way) => {
    await way.first().redisActor().acquire(lockOf(), { lease: SHORT });
    const waiter = way.second().redisActor();
    expect(await waiter.tryAcquire(lockOf())).toBe(false);
    expect(await waiter.acquire(lockOf())).toBe(true);
  });

  const renewing = [
    { title: 'Node', start: startRedisNodePeer, waiter: () => stage.other },
    { title: 'Java', start: startRedissonPeer, waiter: () => stage.one },
  ];
  it.each(renewing)('stays with $title, which renews it', async ({ start, waiter }) => {
    const peer = await start(stage.deployment.urls, { watchdogTimeout: SHORT });
    try {
      await peer.redisActor().acquire(lockOf());
      const another = waiter().redisActor();
      expect(await another.acquire(lockOf(), { wait: 2 * SHORT })).toBe(false);
    } finally {
      await peer.stop();
    }
    expect(await waiter().redisActor().acquire(lockOf())).toBe(true);
  });

  it('is granted to all contenders, and leaves nothing behind', async () => {
    const turns = stage.owners(8).map(async (owner) => {
      await owner.acquire(lockOf());
      await owner.release(lockOf());
    });
    await Promise.all(turns);
    await stage.emptyBut([]);
  });
});
