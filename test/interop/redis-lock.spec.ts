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
    waiting: () => stage.listening(stage.names.channel),
  });

  it('has the name that the other one gives it, tags included', async () => {
    const lock = `lock:{${stage.name}}:a`;
    const [node, java] = [stage.one.redisActor(), stage.other.redisActor()];
    await node.acquire(lock);
    expect(await java.tryAcquire(lock)).toBe(false);
    const granted = java.acquire(lock, { lease: LONG });
    await stage.listening(`redisson_lock__channel:{${stage.name}}:a`);
    await node.release(lock);
    expect(await granted).toBe(true);
    const grantedBack = node.acquire(lock);
    await stage.listening(`redisson_lock__channel:{${stage.name}}:a`);
    await java.release(lock);
    expect(await grantedBack).toBe(true);
  });

  const renewing = [
    { title: 'Node', start: startRedisNodePeer, waiter: () => stage.other },
    { title: 'Java', start: startRedissonPeer, waiter: () => stage.one },
  ];

  it.each(renewing)(
    'stays with $title, who renews it, and ends with its process',
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

  it.each(stage.ways)('goes to who waits when it is forced open while $title', async (way) => {
    const holder = way.first().redisActor();
    await holder.acquire(lockOf(), { lease: LONG });
    const granted = way.second().redisActor().acquire(lockOf());
    await stage.listening(stage.names.channel);
    expect(await way.first().redisActor().forceUnlock(lockOf())).toBe(true);
    expect(await granted).toBe(true);
    expect(await holder.isHeld(lockOf())).toBe(false);
  });

  it.each(stage.ways)('is taken in the eyes of the other one while $title', async (way) => {
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    await holder.acquire(lockOf(), { lease: LONG });
    expect(await another.isLocked(lockOf())).toBe(true);
    expect(await another.remaining(lockOf())).toBeGreaterThan(LONG - 60_000);
    await holder.release(lockOf());
    expect(await another.isLocked(lockOf())).toBe(false);
    expect(await another.remaining(lockOf())).toBe(-2);
  });
});
