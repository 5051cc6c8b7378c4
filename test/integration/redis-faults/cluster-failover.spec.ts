import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS } from '../support/redis-lock-kinds.js';

/** Longer than a failover takes. */
const LEASE = 15_000;

describe('In a cluster, when the lock moves to another master', () => {
  const clients = new RedisLockClients();
  let cluster: RedisCluster;
  let holder: RedisLockClient;
  let other: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());

  beforeEach(async () => {
    key = randomUUID();
    await cluster.restart();
    const connect = () => clients.on(cluster.client(), { watchdogTimeout: LEASE });
    [holder, other] = await Promise.all([connect(), connect()]);
  });
  afterEach(() => clients.close());

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
    for (let n = 0; ; n++) if ((await cluster.masterOf(`${n}`)) === master) return `${n}`;
  }

  const moves: [string, () => Promise<void>][] = [
    ['since it was killed', () => cluster.failOver(key)],
    ['in agreement', () => cluster.handOver(key)],
    ['with its slot', () => cluster.migrate(key)],
  ];

  it.each(moves)(
    '%s, the holder stays the holder, and the waiter gets the lock',
    async (_, move) => {
      const lease = await holder.mutex(key).acquire();
      const fixed = await holder.mutex(`{${key}}:fixed`).acquire({ lease: 60_000 });
      const before = await cluster.masterOf(key);
      const queued = other.mutex(key).acquire();
      await listening(before);
      await move();
      const after = await cluster.masterOf(key);
      expect(after).not.toBe(before);
      await listening(after, before); // as a replica, that one takes subscriptions too, and gets what is published
      expect(await after.command('HEXISTS', key, lease.holder)).toBe(1);

      const granted = queued.then(() => performance.now());
      await lease.release();
      const releasedAt = performance.now();
      expect((await granted) - releasedAt).toBeLessThan(1_000);
      expect([fixed.isHeld, fixed.signal.aborted]).toEqual([true, false]);
      await (await queued).release();
      expect(await after.command('EXISTS', key)).toBe(0);
    },
  );

  it.each(ALL_LOCKS)(
    'while its slot is moving, a %s is handed on when it has moved',
    async (_, of) => {
      const lease = await of(holder, key).acquire();
      const settled: Promise<void>[] = [];
      await cluster.migrate(key, async () => {
        const before = await cluster.masterOf(key);
        await before.command('CONFIG', 'RESETSTAT');
        settled.push(
          lease.release(),
          of(other, key).using(() => {}),
          of(other, `{${key}}`).using(() => {}),
        );
        await eventually('one was refused', async () =>
          /errorstat_(TRYAGAIN|ASK)/.test(String(await before.command('INFO', 'errorstats'))),
        );
      });
      await Promise.all(settled);
      const after = await cluster.masterOf(key);
      await eventually('it is free', async () => (await after.command('EXISTS', key)) === 0);
      expect(await of(holder, key).tryAcquire()).toMatchObject({ isHeld: true });
    },
  );

  it('which has not heard of the lock yet, the holder is notified before it would be renewed', async () => {
    const locks = await clients.on(cluster.client(), { watchdogTimeout: 120_000 });
    await locks.mutex(key).using(() => {}); // it is connected to that master
    const master = await cluster.masterOf(key);
    const replica = await cluster.replicaOf(master);
    replica.freeze();
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    const lease = await locks.mutex(key).acquire();
    const fixed = await locks.mutex(`{${key}} fixed`).acquire({ lease: 120_000 });
    const lost = Promise.all([lossOf(lease), lossOf(fixed)]);
    await master.kill();
    replica.thaw();
    await lost;
    expect(() => lease.assertHeld()).toThrow('forgotten');
    expect(() => fixed.assertHeld()).toThrow('forgotten');
    expect(await other.mutex(key).acquire()).toMatchObject({ isHeld: true });
  });

  it('with classic channels, the master that a subscriber is connected to is replaced', async () => {
    const connect = () => clients.on(cluster.client(), { shardedSubscriptionMode: 'off' });
    const [first, second] = await Promise.all([connect(), connect()]);
    const lease = await first.mutex(key).acquire();
    const queued = second.mutex(key).acquire();
    const server = await eventually('it listens', async () => {
      for (const each of cluster.servers)
        if (String(await each.command('PUBSUB', 'CHANNELS', channel())) === channel()) return each;
      return undefined;
    });
    await cluster.failOver(await keyOf(server));
    const granted = queued.then(() => performance.now());
    await lease.release();
    const releasedAt = performance.now();
    expect((await granted) - releasedAt).toBeLessThan(1_000);
  });

  it.each(moves)('%s, it is renewed there', async (_, move) => {
    const locks = await clients.on(cluster.client(), { watchdogTimeout: 10_000 });
    const lease = await locks.mutex(key).acquire();
    await move();
    const after = await cluster.masterOf(key);
    const expiry = Number(await after.command('PEXPIRETIME', key));
    await eventually('its lease would be over', () => Date.now() > expiry);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await after.command('HEXISTS', key, lease.holder)).toBe(1);
  });
});
