import { expect, it } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';

/** In ms. */
const SHORT = 1_000;
const LONG = 3_600_000;

describeWithRedisson('A lock', (stage) => {
  const lockOf = () => `lock:${stage.name}`;

  redisExclusionSuite(stage, {
    kind: 'lock',
    channel: () => stage.names.channel,
  });

  it.each(stage.ways)('may have braces in its name while $title', async (way) => {
    const name = `{${stage.name}}:a`;
    const [holder, waiter] = [way.first().redisActor(), way.second().redisActor()];
    await holder.acquire(`lock:${name}`, { lease: LONG });
    expect(await waiter.tryAcquire(`lock:${name}`)).toBe(false);
    const log = await stage.log();
    const granted = waiter.acquire(`lock:${name}`);
    await stage.asleep(way.second(), `redisson_lock__channel:${name}`, log);
    await holder.release(`lock:${name}`);
    expect(await granted).toBe(true);
  });

  const renewing = [
    { title: 'Node', start: startRedisNodePeer, waiter: () => stage.other },
    { title: 'Java', start: startRedissonPeer, waiter: () => stage.one },
  ];

  it.each(renewing)(
    'stays with $title, which renews it, and ends with its process',
    async ({ start, waiter }) => {
      const peer = await start(stage.deployment.urls, { watchdogTimeout: SHORT });
      try {
        await peer.redisActor().acquire(lockOf());
        expect(
          await waiter()
            .redisActor()
            .acquire(lockOf(), { wait: 3 * SHORT }),
        ).toBe(false);
      } finally {
        await peer.stop();
      }
      expect(await waiter().redisActor().acquire(lockOf())).toBe(true);
    },
  );

  it.each(stage.ways)('goes to a waiter when it is forced open while $title', async (way) => {
    const holder = way.first().redisActor();
    await holder.acquire(lockOf(), { lease: LONG });
    const log = await stage.log();
    const granted = way.second().redisActor().acquire(lockOf());
    await stage.asleep(way.second(), stage.names.channel, log);
    expect(await way.first().redisActor().forceUnlock(lockOf())).toBe(true);
    expect(await granted).toBe(true);
    expect(await holder.isHeld(lockOf())).toBe(false);
  });

  it.each(stage.ways)('is locked for the other side while $title', async (way) => {
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    await holder.acquire(lockOf(), { lease: LONG });
    expect(await another.isLocked(lockOf())).toBe(true);
    expect(await another.remaining(lockOf())).toBeGreaterThan(LONG - 60_000);
    await holder.release(lockOf());
    expect(await another.isLocked(lockOf())).toBe(false);
    expect(await another.remaining(lockOf())).toBe(-2);
  });
});
