import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import type { Peer } from './support/peer.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';
import { took } from './support/took.js';

/** In ms. */
const LONG = 3_600_000;
const SHORT = 1_500;
const SOON = 10_000;

describeWithRedisson('A multi-lock', (stage) => {
  const places = [
    { title: 'in one slot', nameOf: (part: string) => `{${stage.name}}:${part}` },
    { title: 'in several slots', nameOf: (part: string) => `${stage.name}-${part}` },
  ];

  describe.each(places)('of parts $title', ({ nameOf }) => {
    const parts = () => ['a', 'b', 'c'].map((part) => `lock:${nameOf(part)}`);
    const multiLock = () => parts().join('+');

    it.each(stage.ways)('excludes the other side as a whole while $title', async (way) => {
      const [holder, waiter] = [way.first().redisActor(), way.second().redisActor()];
      expect(await holder.acquire(multiLock())).toBe(true);
      expect(await waiter.tryAcquire(multiLock())).toBe(false);
      expect(await waiter.acquire(multiLock(), { wait: 300 })).toBe(false);
      expect(await way.first().redisActor().tryAcquire(multiLock())).toBe(false);

      const granted = waiter.acquire(multiLock());
      await hasSleeper(way.second());
      await holder.release(multiLock());
      expect(await took(granted)).toBeLessThan(SOON);
      await waiter.release(multiLock());
      expect(await holder.tryAcquire(multiLock())).toBe(true);
    });

    it.each(stage.ways)('excludes the other side part by part while $title', async (way) => {
      const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(multiLock());
      for (const part of parts()) expect(await another.tryAcquire(part)).toBe(false);
      await holder.release(multiLock());
      for (const part of parts()) expect(await another.tryAcquire(part)).toBe(true);
    });

    it.each(stage.ways)('leaves the other parts free when one is held and $title', async (way) => {
      const [a, b, c] = parts();
      const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(b!, { lease: LONG });
      expect(await another.acquire(multiLock(), { wait: 500 })).toBe(false);
      expect(await holder.tryAcquire(a!)).toBe(true);
      expect(await holder.tryAcquire(c!)).toBe(true);
    });

    it.each(stage.ways)('is granted when its last part becomes free while $title', async (way) => {
      const [, , c] = parts();
      const [holder, waiter] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(c!, { lease: LONG });
      const granted = waiter.acquire(multiLock());
      await hasSleeper(way.second());
      await holder.release(c!);
      expect(await took(granted)).toBeLessThan(SOON);
    });

    const dying = [
      { title: 'Node', start: startRedisNodePeer, waiter: () => stage.other },
      { title: 'Java', start: startRedissonPeer, waiter: () => stage.one },
    ];
    it.each(dying)(
      'stays with $title, which renews it, and ends with its process',
      async ({ start, waiter }) => {
        const peer = await start(stage.deployment.urls, { watchdogTimeout: SHORT });
        const another = waiter().redisActor();
        try {
          await peer.redisActor().acquire(multiLock());
          expect(await another.acquire(multiLock(), { wait: 2 * SHORT })).toBe(false);
        } finally {
          await peer.stop();
        }
        expect(await another.acquire(multiLock())).toBe(true);
      },
    );

    // Redisson acquires the parts in the given order; two orders among its own clients make it start over for a long time.
    it('is granted to all contenders, whatever order Node is given its parts in', async () => {
      const turns = stage.owners(6).map(async (owner, n) => {
        const order = n % 4 ? multiLock() : parts().toReversed().join('+');
        expect(await owner.acquire(order)).toBe(true);
        await owner.release(order);
      });
      await Promise.all(turns);
      await stage.emptyBut([]);
    });
  });
});

/** Resolves when an actor of that process waits. */
async function hasSleeper(peer: Peer): Promise<void> {
  const actor = peer.redisActor();
  await eventually('one thread waits', async () => (await actor.sleepers()) === 1);
}
