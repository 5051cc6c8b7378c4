import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LockInspector, type InspectedLock } from '../../lib/inspector/index.js';
import type { LeaderLatch, LockModuleOptions, RedisLockClient } from '../../lib/index.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { clientOf } from '../e2e/support/apps.js';
import { eventually } from '../support/eventually.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { inspectingApp } from './support/inspecting-app.js';

const JAVA = '0f0e0d0c-0b0a-4908-8706-050403020100:52';

describe('The inspector, of processes that report nothing to it,', () => {
  let app: INestApplication | undefined;
  let redis: RedisServer;

  beforeAll(async () => void (redis = await RedisServer.start()));
  afterAll(() => redis?.stop());
  afterEach(() => app?.close());

  async function inspect(options: LockModuleOptions): Promise<LockInspector> {
    ({ app } = await inspectingApp([options], { path: false }));
    return app.get(LockInspector);
  }

  /** Waits until that lock is as wanted. */
  const shown = (
    inspector: LockInspector,
    key: string,
    isRight: (lock: InspectedLock | undefined) => boolean = (lock) => lock !== undefined,
  ) =>
    eventually(`${key} is shown`, async () => {
      const [client] = (await inspector.snapshot()).clients;
      expect(client!.problems).toEqual([]);
      const lock = client!.locks.find((each) => each.key === key);
      return isRight(lock) && { lock };
    });

  it("shows Redisson's locks that it finds on the server, and releases them", async () => {
    const inspector = await inspect({ backend: 'redis', connect: redis.url, prefix: 'shop:' });
    await redis.command('HSET', 'shop:java', JAVA, 2);
    await redis.command('HSET', 'shop:catalogue', 'mode', 'write', `${JAVA}:write`, 1);
    await redis.command('HSET', 'shop:basket', 'apples', 2);
    await redis.command('HSET', 'elsewhere', JAVA, 1);
    await redis.command('RPUSH', 'redisson_lock_queue:{shop:java}', 'waiter:1');

    const { lock } = await shown(inspector, 'java');
    expect(lock).toMatchObject({ kind: 'mutex', queue: [{ ids: ['waiter:1'] }] });
    expect(lock!.holders).toEqual([{ ids: [JAVA] }]);
    const written = await shown(inspector, 'catalogue');
    expect(written.lock!.holders).toEqual([{ ids: [JAVA], mode: 'write' }]);
    const [client] = (await inspector.snapshot()).clients;
    expect(client!.locks.map(({ key }) => key)).toEqual(['catalogue', 'java']);

    for (const name of ['shop:java', 'shop:catalogue']) {
      expect(await inspector.release('default', name, [JAVA])).toBe(true);
      expect(await redis.command('EXISTS', name)).toBe(0);
    }
  });

  it('shows the permits of a semaphore, and releases those of one holder', async () => {
    const inspector = await inspect({ backend: 'redis', connect: redis.url, prefix: 'pool:' });
    const locks = clientOf(app!) as RedisLockClient;
    const desks = locks.semaphore('desks', { permits: 3 });
    const mine = await desks.acquire({ permits: 2, method: 'Desk.take' });
    const id = 'aa'.repeat(16);
    const inAnHour = Date.now() + 3_600_000;
    await redis.command('ZADD', '{pool:desks}:timeout', inAnHour, Buffer.from(id, 'hex'));

    const { lock } = await shown(inspector, 'desks', (each) => each?.holders.length === 2);
    expect(lock!.kind).toBe('semaphore');
    const [own] = lock!.holders.filter(({ method }) => method === 'Desk.take');
    expect([...own!.ids].sort()).toEqual([...mine.permitIds].sort());
    expect(await inspector.release('default', lock!.name, [id])).toBe(true);
    expect(mine.isHeld).toBe(true);
    expect(await inspector.release('default', lock!.name, own!.ids)).toBe(true);
    expect(mine.isHeld).toBe(false);
    await shown(inspector, 'desks', (each) => each === undefined);
  });

  it('shows a lock of a majority of servers once, also while one of them is down', async () => {
    const servers = await IndependentRedisServers.start(3);
    try {
      const inspector = await inspect({
        backend: 'redis',
        nodes: servers.nodes,
        shutdownTimeout: 500,
      });
      const lease = await clientOf(app!).mutex('order').acquire({ method: 'Orders.pay' });
      const { lock } = await shown(
        inspector,
        'order',
        (each) => each?.holders[0]?.ids.length === 3,
      );
      expect(lock!.holders).toMatchObject([{ method: 'Orders.pay', pid: process.pid }]);
      await servers.kill(0);
      await shown(inspector, 'order', (each) => each?.holders.length === 1);
      expect(await inspector.release('default', lock!.name, lock!.holders[0]!.ids)).toBe(true);
      expect(lease.isHeld).toBe(false);

      const latches = ['web-1', 'web-2'].map((id) => clientOf(app!).leaderLatch('cron', { id }));
      const [leader, follower] = latches as [LeaderLatch, LeaderLatch];
      leader.start();
      await leader.awaitLeadership();
      follower.start();
      const { lock: election } = await shown(inspector, 'cron', (it) => it?.queue.length === 1);
      expect(election).toMatchObject({
        kind: 'leader latch',
        holders: [{ participant: 'web-1' }],
        queue: [{ participant: 'web-2' }],
      });
      const { signal } = leader.leadership!;
      const { ids } = election!.holders[0]!;
      expect(await inspector.release('default', election!.name, ids)).toBe(true);
      expect(signal.aborted).toBe(true);
    } finally {
      await app!.close();
      await servers.stop();
    }
  });

  it('shows what the nodes of ZooKeeper carry, and says when the servers do not answer', async () => {
    const server = await ZooKeeperServer.start();
    const connect = server.connectString;
    const other = await createZooKeeperLockClient('other', { connect });
    try {
      await other.connect();
      const inspector = await inspect({ backend: 'zookeeper', connect });
      const held = await other.mutex('seat 1', { data: '10.0.0.7' }).acquire();
      const waiting = other
        .mutex('seat 1')
        .acquire()
        .catch(() => {});
      const { lock } = await shown(inspector, 'seat 1', (each) => each?.queue.length === 1);
      expect(lock).toMatchObject({ kind: 'mutex', name: '/locks/seat%201' });
      const fencingToken = String(await held.fencingToken());
      const [holder] = lock!.holders;
      expect(holder).toMatchObject({ ids: held.paths, data: '10.0.0.7', fencingToken });
      expect(Math.abs(Date.now() - holder!.since!)).toBeLessThan(60_000);
      expect(lock!.queue[0]!.since).toBeGreaterThanOrEqual(holder!.since!);

      const mine = await clientOf(app!).mutex('mine').acquire({ method: 'Mine.do' });
      await server.kill();
      const problem = await eventually('it says so', async () => {
        const [client] = (await inspector.snapshot()).clients;
        expect(client!.locks).toMatchObject([{ key: 'mine', holders: [{ method: 'Mine.do' }] }]);
        return client!.problems.join();
      });
      expect(problem).toContain('The servers did not report the holders');
      await Promise.all([other.close(100), mine.release(), waiting]);
    } finally {
      await other.close(100);
      await app!.close();
      await server.stop();
    }
  }, 60_000);
});
