import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { scriptCalls } from '../../redis/support/redis-stage.js';
import { tier } from '../../support/tier.js';
import { calm, eventually } from '../../support/time.js';
import { useRedisCluster, useRedisSentinel } from '../../support/fixtures.js';
import { type RedisServer, sinceRedis } from '../../support/redis-server.js';
import {
  EXCLUSIVE_KINDS,
  EXCLUSIVE_LOCKS,
  expiryOf,
  holdersOf,
  LOCKS,
  onlyHolder,
  SEMAPHORES,
} from '../support/redis-kinds.js';
import {
  expectHeld,
  expectLost,
  holdAll,
  lossesOf,
  queueForAll,
  RedisLockClients,
  releaseAll,
} from '../support/redis-stage.js';

/** Longer than a failover takes. */
const LEASE = 15_000;
/** Far less than a waiter sleeps that is not woken, in ms: until the lease of the holder ends. */
const SOON = LEASE / 3;

const sentinel = useRedisSentinel();
const cluster = useRedisCluster();
const clients = new RedisLockClients();
let holder: RedisLockClient;
let other: RedisLockClient;
let key: string;

beforeEach(() => void (key = randomUUID()));
afterEach(() => clients.close());

const DRIVERS = ['ioredis', 'node-redis'] as const;
/** Whether all is tested with it in this run: most depends on the locks, not on the driver. */
const isFull = (driver: string) => driver === 'ioredis' || tier === 'long';

describe.each(DRIVERS)('By %s, when a replica takes over by the sentinels', (driver) => {
  beforeEach(async () => {
    await sentinel().restart();
    const { masterName: name, sentinels } = sentinel();
    const sentinelRootNodes = sentinels.map(({ host, port }) => ({ host, port }));
    const connect = () =>
      driver === 'ioredis'
        ? clients.on(sentinel().client(), { watchdogTimeout: LEASE })
        : clients.with({ driver, connect: { name, sentinelRootNodes }, watchdogTimeout: LEASE });
    [holder, other] = await Promise.all([connect(), connect()]);
  });

  it('holders of all kinds stay holders, are renewed there, and hand on', async () => {
    const held = await holdAll(EXCLUSIVE_KINDS, holder, key);
    const fixed = await holdAll(EXCLUSIVE_KINDS, holder, `${key} fixed`, { lease: 60_000 });
    const allGranted = await queueForAll(held, other);
    await sentinel().failOver();
    const master = await sentinel().master();
    await eventually('all were renewed', async () => {
      const ends = await Promise.all(held.map(({ key }) => expiryOf(master, key)));
      return Math.min(...ends) > Date.now() + LEASE - 1_000;
    });
    expectHeld([...held, ...fixed]);
    for (const { name, key, lease } of held)
      expect([name, await holdersOf(master, key)]).toEqual([name, onlyHolder(lease)]);

    await releaseAll(held);
    const releasedAt = performance.now();
    const next = await allGranted();
    expect(Math.max(...next.map(({ at }) => at)) - releasedAt).toBeLessThan(SOON);
    for (const { name, key, lease } of next)
      expect([name, await holdersOf(master, key)]).toEqual([name, onlyHolder(lease)]);
    await releaseAll(next);
    for (const { name, key } of next)
      expect([name, await holdersOf(master, key)]).toEqual([name, []]);
  });

  if (!isFull(driver)) return;

  it('messages come from there', async () => {
    await sentinel().failOver();
    await holder.mutex(key).using(() => {});
    const master = await sentinel().master();
    const held = await holdAll(EXCLUSIVE_KINDS.slice(0, 1), holder, key);
    const granted = await queueForAll(held, other);
    const channel = `redisson_lock__channel:{${held[0]!.key}}`;
    await eventually('it listens', async () => {
      const [, count] = (await master.command('PUBSUB', 'NUMSUB', channel)) as [string, number];
      return count === 1;
    });
    await calm(() => scriptCalls(master));
    await releaseAll(held);
    const releasedAt = performance.now();
    expect((await granted())[0]!.at - releasedAt).toBeLessThan(SOON);
  });

  it('which has not heard of the locks yet, holders are notified as soon as they are connected', async () => {
    const [master, replica] = [await sentinel().master(), await sentinel().replica()];
    replica.freeze();
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    const held = await holdAll(EXCLUSIVE_KINDS, holder, key);
    const fixed = await holdAll(EXCLUSIVE_KINDS, holder, `${key} fixed`, { lease: 60_000 });
    const losses = lossesOf([...held, ...fixed]);
    await master.kill();
    replica.thaw();
    await losses;
    expectLost([...held, ...fixed], 'forgotten');
    expectHeld(await holdAll(EXCLUSIVE_LOCKS, other, key));
    expectHeld(await holdAll(SEMAPHORES, other, key, { permits: 3 }));
  });
});

/** Redis 6.2 has no sharded channels. */
const describeSince7 = sinceRedis('7.0') ? describe : describe.skip;

describeSince7.each(DRIVERS)(
  'By %s in a cluster, when the lock moves to another master',
  (driver) => {
    const connected = (options: Partial<RedisLockOptions>) =>
      driver === 'ioredis'
        ? clients.on(cluster().client(), options)
        : clients.with({ driver, cluster: { nodes: cluster().nodes }, ...options });

    beforeEach(async () => {
      await cluster().restart();
      const one = () => connected({ watchdogTimeout: LEASE });
      [holder, other] = await Promise.all([one(), one()]);
    });

    const channel = () => `redisson_lock__channel:{${key}}`;

    /** Waits until those of the servers that run have one subscriber of the lock. */
    async function listening(...servers: RedisServer[]): Promise<void> {
      const running = servers.filter((server) => server.running);
      await eventually('the waiter listens there', async () => {
        const asked = running.map((server) => server.command('PUBSUB', 'SHARDNUMSUB', channel()));
        const answers = (await Promise.all(asked)) as [string, number][];
        return answers.reduce((sum, [, count]) => sum + count, 0) === 1;
      });
    }

    /** A key that this master has. */
    async function keyOf(master: RedisServer): Promise<string> {
      for (let n = 0; ; n++) if ((await cluster().masterOf(`${n}`)) === master) return `${n}`;
    }

    const moves: [string, number, () => Promise<void>][] = [
      ['since it was killed', LEASE, () => cluster().failOver(key)],
      ['in agreement', LEASE, () => cluster().handOver(key)],
      ['with its slot', LEASE / 3, () => cluster().migrate(key)],
    ];

    it.each(isFull(driver) ? moves : moves.slice(0, 1))(
      '%s, the holder stays the holder, is renewed there, and the waiter gets the lock',
      async (_, watchdogTimeout, move) => {
        const locks = await connected({ watchdogTimeout });
        const lease = await locks.mutex(key).acquire();
        const fixed = await locks.mutex(`{${key}}:fixed`).acquire({ lease: 60_000 });
        const before = await cluster().masterOf(key);
        const queued = other.mutex(key).acquire();
        await listening(before);
        await move();
        const after = await cluster().masterOf(key);
        expect(after).not.toBe(before);
        await listening(after, before); // as a replica, that one takes subscriptions too, and gets what is published
        expect(await holdersOf(after, key)).toEqual([lease.holder]);
        const expiry = await expiryOf(after, key);
        await eventually('it is renewed', () => Date.now() + lease.remaining() > expiry);
        expect(await expiryOf(after, key)).toBeGreaterThan(expiry);
        expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);

        const granted = queued.then(() => performance.now());
        await lease.release();
        const releasedAt = performance.now();
        expect((await granted) - releasedAt).toBeLessThan(SOON);
        expect([fixed.isHeld, fixed.signal.aborted]).toEqual([true, false]);
        await (await queued).release();
        expect(await after.command('EXISTS', key)).toBe(0);
      },
    );

    it.each(isFull(driver) ? LOCKS : LOCKS.slice(0, 1))(
      'while its slot is moving, a $name is handed on when it has moved',
      async (kind) => {
        const { of } = kind;
        const lease = await of(holder, key).acquire();
        const settled: Promise<unknown>[] = [];
        await cluster().migrate(key, async () => {
          const before = await cluster().masterOf(key);
          await before.command('CONFIG', 'RESETSTAT');
          settled.push(
            lease.release(),
            of(other, key).using(() => {}),
            of(other, `{${key}}:too`).using(() => {}),
          );
          await eventually('one was refused', async () =>
            /errorstat_(TRYAGAIN|ASK)/.test(String(await before.command('INFO', 'errorstats'))),
          );
        });
        await Promise.all(settled);
        const after = await cluster().masterOf(key);
        await eventually('it is free', async () => (await after.command('EXISTS', key)) === 0);
        expect(await of(holder, key).tryAcquire()).toMatchObject({ isHeld: true });
      },
    );

    it('in agreement, and it is not there, the holder notices it although its lease is not renewed', async () => {
      const locks = await connected({ watchdogTimeout: 3_000 });
      const [mutex] = EXCLUSIVE_KINDS;
      const fixed = await holdAll([mutex!], locks, `{${key}}`, { lease: 600_000 });
      const losses = lossesOf(fixed);
      await cluster().handOver(key);
      await (await cluster().masterOf(key)).command('DEL', fixed[0]!.key); // as if it had not heard of it
      await losses;
      expectLost(fixed, 'forgotten');
    });

    if (!isFull(driver)) return;

    it('which has not heard of the lock yet, the holder is notified before it would be renewed', async () => {
      const locks = await connected({ watchdogTimeout: 120_000 });
      await locks.mutex(key).using(() => {}); // it is connected to that master
      const master = await cluster().masterOf(key);
      const replica = await cluster().replicaOf(master);
      replica.freeze();
      await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
      const mutexes = EXCLUSIVE_KINDS.slice(0, 1);
      const held = await holdAll(mutexes, locks, `{${key}}`);
      const fixed = await holdAll(mutexes, locks, `{${key}} fixed`, { lease: 120_000 });
      const losses = lossesOf([...held, ...fixed]);
      await master.kill();
      replica.thaw();
      await losses;
      expectLost([...held, ...fixed], 'forgotten');
      expectHeld(await holdAll(mutexes, other, `{${key}}`));
    });

    it('with classic channels, the master that a subscriber is connected to is replaced', async () => {
      const connect = () => connected({ shardedSubscriptionMode: 'off' });
      const [first, second] = await Promise.all([connect(), connect()]);
      const lease = await first.mutex(key).acquire();
      const queued = second.mutex(key).acquire();
      const server = await eventually('it listens', async () => {
        for (const each of cluster().servers)
          if (String(await each.command('PUBSUB', 'CHANNELS', channel())) === channel())
            return each;
        return undefined;
      });
      await cluster().failOver(await keyOf(server));
      const granted = queued.then(() => performance.now());
      await lease.release();
      const releasedAt = performance.now();
      expect((await granted) - releasedAt).toBeLessThan(SOON);
    });
  },
);
