import { describe, expect, it } from '@jest/globals';
import { useShared } from '../support/fixtures.js';
import { RedisServer } from '../support/redis-server.js';
import { redissonClassPath } from './support/builds.js';
import { Way } from './support/peer.js';
import { describeWithRedisson, NODE, took } from './support/redis-stage.js';
import { startRedisNodePeer, startRedissonPeer } from './support/start-peers.js';

/** In ms. */
const LONG = 3_600_000;
const SOON = 10_000;
const LEASE = 60_000;
const HOLDER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/;

describeWithRedisson(NODE, (stage) => {
  describe('a read/write lock', () => {
    const locks = () => ({ read: `read:${stage.name}`, write: `write:${stage.name}` });
    const channel = () => stage.names.readWriteChannel;

    it('is read by all at the same time, and not written meanwhile', async () => {
      const { read, write } = locks();
      const readers = stage.owners(4);
      for (const reader of readers) expect(await reader.tryAcquire(read)).toBe(true);
      for (const reader of readers) {
        for (const writer of stage.owners(2)) expect(await writer.tryAcquire(write)).toBe(false);
        await reader.release(read);
      }
      expect(await stage.one.redisActor().tryAcquire(write)).toBe(true);
      expect(await stage.one.redisActor().tryAcquire(read)).toBe(false);
      expect(await stage.other.redisActor().tryAcquire(read)).toBe(false);
    });

    it.each(stage.ways)(
      'wakes a writer when its last reader releases while $title',
      async (way) => {
        const { read, write } = locks();
        const [near, far] = way.redisActors();
        await near.acquire(read, { lease: LONG });
        await far.acquire(read, { lease: LONG });
        const log = await stage.log();
        const written = way.second().redisActor().acquire(write);
        await stage.asleep(way.second(), channel(), log);
        await far.release(read);
        await near.release(read);
        expect(await written).toBe(true);
      },
    );

    it.each(stage.ways)(
      'wakes all readers of both when its writer releases while $title',
      async (way) => {
        const { read, write } = locks();
        const writer = way.first().redisActor();
        await writer.acquire(write, { lease: LONG });
        const log = await stage.log();
        const readers = stage.owners(6).map((reader) => reader.acquire(read, { lease: LONG }));
        for (const peer of [stage.one, stage.other]) await stage.asleep(peer, channel(), log, 3);
        await writer.release(write);
        expect(await Promise.all(readers)).toEqual(Array(6).fill(true));
      },
    );

    it.each(stage.ways)(
      'is read by others after a downgrade, but not written, where $title',
      async (way) => {
        const { read, write } = locks();
        const [holder, another] = way.redisActors();
        await holder.acquire(write, { lease: LONG });
        await holder.acquire(read, { lease: LONG });
        expect(await another.tryAcquire(read)).toBe(false);
        await holder.release(write);
        expect(await another.tryAcquire(read)).toBe(true);
        await another.release(read);
        expect(await another.tryAcquire(write)).toBe(false);
        await holder.release(read);
        expect(await another.tryAcquire(write)).toBe(true);
      },
    );

    it('wakes a reader in Java when a writer in Node becomes a reader', async () => {
      const { read, write } = locks();
      const [node, java] = [stage.one.redisActor(), stage.other.redisActor()];
      await node.acquire(write, { lease: LONG });
      await node.acquire(read, { lease: LONG });
      const log = await stage.log();
      const granted = java.acquire(read, { lease: LONG });
      await stage.asleep(stage.other, channel(), log);
      await node.release(write);
      expect(await granted).toBe(true);
    });
  });

  describe('a multi-lock', () => {
    const places = [
      { title: 'in one slot', nameOf: (part: string) => `{${stage.name}}:${part}` },
      { title: 'in several slots', nameOf: (part: string) => `${stage.name}-${part}` },
    ];

    describe.each(places)('of parts $title', ({ nameOf }) => {
      const parts = () => ['a', 'b', 'c'].map((part) => `lock:${nameOf(part)}`);
      const multiLock = () => parts().join('+');

      it.each(stage.ways)('excludes the other side as a whole while $title', async (way) => {
        const [holder, waiter] = way.redisActors();
        expect(await holder.acquire(multiLock())).toBe(true);
        expect(await waiter.tryAcquire(multiLock())).toBe(false);
        expect(await waiter.acquire(multiLock(), { wait: 100 })).toBe(false);
        expect(await way.first().redisActor().tryAcquire(multiLock())).toBe(false);

        const granted = waiter.acquire(multiLock());
        await stage.hasSleeper(way.second());
        await holder.release(multiLock());
        expect(await took(granted)).toBeLessThan(SOON);
        await waiter.release(multiLock());
        expect(await holder.tryAcquire(multiLock())).toBe(true);
      });

      it.each(stage.ways)('excludes the other side part by part while $title', async (way) => {
        const [holder, another] = way.redisActors();
        await holder.acquire(multiLock());
        for (const part of parts()) expect(await another.tryAcquire(part)).toBe(false);
        await holder.release(multiLock());
        for (const part of parts()) expect(await another.tryAcquire(part)).toBe(true);
      });

      it.each(stage.ways)(
        'leaves the other parts free when one is held and $title',
        async (way) => {
          const [a, b, c] = parts();
          const [holder, another] = way.redisActors();
          await holder.acquire(b!, { lease: LONG });
          expect(await another.acquire(multiLock(), { wait: 200 })).toBe(false);
          expect(await holder.tryAcquire(a!)).toBe(true);
          expect(await holder.tryAcquire(c!)).toBe(true);
        },
      );

      it.each(stage.ways)(
        'is granted when its last part becomes free while $title',
        async (way) => {
          const [, , c] = parts();
          const [holder, waiter] = way.redisActors();
          await holder.acquire(c!, { lease: LONG });
          const granted = waiter.acquire(multiLock());
          await stage.hasSleeper(way.second());
          await holder.release(c!);
          expect(await took(granted)).toBeLessThan(SOON);
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

  describe('what stands for a lock', () => {
    const peers = [
      // A '0' after the '1' of a writer wakes a Redisson thread that is about to sleep.
      { language: 'Node', peer: () => stage.one, toldByWriter: ['1', '0'], hasReaders: true },
      { language: 'Java', peer: () => stage.other, toldByWriter: ['1'], hasReaders: false },
    ];

    /** Holders and the hold count of each, which is all that Redisson reads except the mode. */
    const holds = async () => {
      const fields = Object.entries(await stage.pairs('HGETALL', stage.name));
      return fields.filter(([, value]) => /^\d+$/.test(value));
    };

    describe.each(peers)('held by $language', ({ peer, toldByWriter, hasReaders }) => {
      it('is a hash of the holder and its holds, for as long as the lease', async () => {
        const actor = peer().redisActor();
        const lock = `lock:${stage.name}`;
        await actor.acquire(lock, { lease: LEASE });
        expect(await stage.keys()).toEqual([stage.name]);
        expect(await holds()).toEqual([[expect.stringMatching(HOLDER), '1']]);
        await expectAbout(stage.command('PTTL', stage.name), LEASE);

        const log = await stage.log();
        await actor.release(lock);
        expect(await log.published(stage.name)).toEqual([
          `${stage.publish} ${stage.names.channel} 0`,
        ]);
        await stage.emptyBut([]);
      });

      it('lasts 30 s at a time where it is renewed', async () => {
        await peer().redisActor().acquire(`lock:${stage.name}`);
        await expectAbout(stage.command('PTTL', stage.name), 30_000);
      });

      it('is a hash and a number that grows where it is fenced', async () => {
        const actor = peer().redisActor();
        const lock = `fenced:${stage.name}`;
        for (const token of ['1', '2']) {
          await actor.acquire(lock);
          expect(await stage.command('GET', stage.names.token)).toBe(token);
          expect(await actor.token(lock)).toBe(Number(token));
          await actor.release(lock);
        }
        await stage.emptyBut([stage.names.token]);
        expect(await stage.command('PTTL', stage.names.token)).toBe(-1);
      });

      it('is a hash with a queue and its deadlines where it is fair', async () => {
        const lock = `fair:${stage.name}`;
        const [holder, waiter] = [peer().redisActor(), peer().redisActor()];
        await holder.acquire(lock, { lease: LEASE });
        expect(await stage.keys()).toEqual([stage.name]);
        const granted = waiter.acquire(lock, { lease: LEASE });
        await stage.queued(1);
        const [queued] = (await stage.command('LRANGE', stage.names.queue, 0, -1)) as string[];
        expect(queued).toMatch(HOLDER);
        expect(await holds()).not.toContainEqual([queued, '1']);
        expect(await stage.pairs('ZRANGE', stage.names.timeouts, 0, -1, 'WITHSCORES')).toEqual({
          [queued!]: expect.stringMatching(/^\d+$/),
        });

        const log = await stage.log();
        await holder.release(lock);
        await granted;
        expect(await log.published(stage.name)).toEqual([
          `${stage.publish} ${stage.names.waiterChannel(queued!)} 0`,
        ]);
        expect(await holds()).toEqual([[queued, '1']]);
        await waiter.release(lock);
        await stage.emptyBut([]);
      });

      it('is a hash with its mode, and a key of each hold, where it is read', async () => {
        const actor = peer().redisActor();
        const lock = `read:${stage.name}`;
        await actor.acquire(lock, { lease: LEASE });
        expect(await stage.command('HGET', stage.name, 'mode')).toBe('read');
        expect(await holds()).toEqual([[expect.stringMatching(HOLDER), '1']]);
        const [[holder]] = (await holds()) as [[string, string]];
        const key = stage.names.readHold(holder, 1);
        const readers = hasReaders ? [`interlock_readers:{${stage.name}}`] : [];
        expect(await stage.keys()).toEqual([stage.name, key, ...readers].sort());
        await expectAbout(stage.command('PTTL', stage.name), LEASE);
        await expectAbout(stage.command('PTTL', key), LEASE);

        const log = await stage.log();
        await actor.release(lock);
        expect(await log.published(stage.name)).toEqual([
          `${stage.publish} ${stage.names.readWriteChannel} 0`,
        ]);
        await stage.emptyBut([]);
      });

      it('is a hash with its mode where it is written', async () => {
        const actor = peer().redisActor();
        const lock = `write:${stage.name}`;
        await actor.acquire(lock, { lease: LEASE });
        expect(await stage.command('HGET', stage.name, 'mode')).toBe('write');
        const [[field, count], ...others] = (await holds()) as [[string, string]];
        expect(field.replace(/:write$/, '')).toMatch(HOLDER);
        expect(field).toMatch(/:write$/);
        expect(count).toBe('1');
        expect(others).toEqual([]);
        await expectAbout(stage.command('PTTL', stage.name), LEASE);

        const log = await stage.log();
        await actor.release(lock);
        const told = (message: string) =>
          `${stage.publish} ${stage.names.readWriteChannel} ${message}`;
        expect(await log.published(stage.name)).toEqual(toldByWriter.map(told));
        await stage.emptyBut([]);
      });
    });
  });
});

(redissonClassPath() ? describe : describe.skip)(
  'Shared with Redisson, a RedLock over three servers',
  () => {
    let tests = 0;
    const nextName = () => `red-lock-${++tests}`;
    const shared = useShared(async () => {
      const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
      const urls = servers.map(({ url }) => url);
      const peers = await Promise.all(
        [startRedisNodePeer, startRedissonPeer].map((start) => start(urls, { isRedLock: true })),
      );
      const stop = () => Promise.all([...peers, ...servers].map((one) => one.stop()));
      return { servers, peers, stop };
    });
    const [node, java] = [() => shared().peers[0]!, () => shared().peers[1]!];
    const ways = [new Way('Node holds it', node, java), new Way('Java holds it', java, node)];

    it.each(ways)('excludes the other side, and then goes to it, while $title', async (way) => {
      const name = nextName();
      const [holder, another] = way.redisActors();
      expect(await holder.acquire(name)).toBe(true);
      expect(await another.tryAcquire(name)).toBe(false);
      expect(await another.acquire(name, { wait: 300 })).toBe(false);
      const granted = another.acquire(name);
      await holder.release(name);
      expect(await granted).toBe(true);
      expect(await holder.tryAcquire(name)).toBe(false);
      await another.release(name);
      expect(await holder.tryAcquire(name)).toBe(true);
      await holder.release(name);
    });

    it.each(ways)(
      'is held by a majority where another client has one server, and $title',
      async (way) => {
        const name = nextName();
        const [holder, another] = way.redisActors();
        await shared().servers[1]!.command('HSET', name, 'stranger:1', 1);
        expect(await holder.acquire(name)).toBe(true);
        expect(await another.tryAcquire(name)).toBe(false);
        await holder.release(name);
        expect(await another.acquire(name)).toBe(true);
        await another.release(name);
      },
    );

    it('is granted to all contenders, one at a time', async () => {
      const name = nextName();
      let inside = 0;
      const turns = [node, java, node, java].map(async (peer) => {
        const owner = peer().redisActor();
        expect(await owner.acquire(name)).toBe(true);
        expect(++inside).toBe(1);
        await shared().servers[0]!.command('PING'); // time for another one to enter
        inside -= 1;
        await owner.release(name);
      });
      await Promise.all(turns);
      for (const server of shared().servers) expect(await server.command('EXISTS', name)).toBe(0);
    });
  },
);

/** In ms; it has decreased since then. */
async function expectAbout(remaining: Promise<unknown>, lease: number): Promise<void> {
  const left = Number(await remaining);
  expect(left).toBeLessThanOrEqual(lease);
  expect(left).toBeGreaterThan(lease - 5_000);
}
