import { describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import {
  LockInspector,
  type InspectedClient,
  type InspectedLock,
} from '../../lib/inspector/index.js';
import type { LeaderLatch, LockModuleOptions, RedisLockClient } from '../../lib/index.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { clientOf, useApps } from '../e2e/support/apps.js';
import { useDeployment } from '../e2e/support/deployments.js';
import { eventually } from '../support/time.js';
import {
  useCleanup,
  useRedis,
  useRedisCluster,
  useShared,
  useZooKeeper,
} from '../support/fixtures.js';
import { IndependentRedisServers } from '../support/redis-server.js';
import { inspectingApp, Team } from './support/inspection.js';

const JAVA = '0f0e0d0c-0b0a-4908-8706-050403020100:52';

const apps = useApps();
const cleanup = useCleanup();
const zookeeper = useZooKeeper();
const redis = useRedis();

async function inspect(options: LockModuleOptions): Promise<LockInspector> {
  return (await boot(options)).get(LockInspector);
}

async function boot(options: LockModuleOptions, scan?: number): Promise<INestApplication> {
  return (await inspectingApp(apps, [options], { path: false, scan })).app;
}

/** Waits until a client is shown as is wanted. */
const shownAs = (app: INestApplication, what: string, isRight: (it: InspectedClient) => boolean) =>
  eventually(
    what,
    async () => {
      const [client] = (await app.get(LockInspector).snapshot()).clients;
      return isRight(client!) && client;
    },
    { within: 25_000 },
  );

/** Waits until a lock is shown as is wanted. */
const shown = (
  inspector: LockInspector,
  key: string,
  isRight: (lock: InspectedLock) => unknown = () => true,
) =>
  eventually(`${key} is shown`, async () => {
    const [client] = (await inspector.snapshot()).clients;
    expect(client!.problems).toEqual([]);
    const lock = client!.locks.find((each) => each.key === key);
    return lock && isRight(lock) ? lock : undefined;
  });

/** A client of another app, which reports nothing to an inspector. */
async function silentClient() {
  const client = await createZooKeeperLockClient('other', { connect: zookeeper().connectString });
  await client.connect();
  return cleanup(client, (each) => each.close(100));
}

describe('The inspector, of elections in other processes,', () => {
  const team = useShared(() => Team.start(3, [optionsOf('zookeeper'), optionsOf('redis')]));

  const optionsOf = (backend: 'zookeeper' | 'redis'): LockModuleOptions =>
    backend === 'redis'
      ? { name: backend, backend, connect: redis().url, watchdogTimeout: 3_000 }
      : { name: backend, backend, connect: zookeeper().connectString };

  const idsOf = ({ holders, queue }: InspectedLock) =>
    [...holders, ...queue].map(({ participant }) => participant).join();

  it.each([
    ['zookeeper', 'latch'],
    ['zookeeper', 'selector'],
    ['redis', 'latch'],
    ['redis', 'selector'],
  ] as const)(
    'shows on %s the leader and the followers by a %s, and takes the leadership away',
    async (backend, recipe) => {
      const inspector = await inspect(optionsOf(backend));
      const key = `${backend}-${recipe}`;
      for (const [i, news] of ['held', 'waiting', 'waiting'].entries())
        expect(await team().order(i, `${backend} ${recipe} ${key} web-${i}`)).toBe(news);
      const first = await shown(inspector, key, (it) => {
        const isReported = it.holders[0]?.pid !== undefined; // a busy process may be late with its answer
        return isReported && idsOf(it) === 'web-0,web-1,web-2';
      });
      expect(first.kind).toBe(`leader ${recipe}`);
      const [leader] = first.holders;
      expect(leader!.fencingToken).toMatch(/^\d+$/);

      expect(await inspector.release(backend, first.name, leader!.ids)).toBe(true);
      expect(await team().next(0)).toBe('lost');
      const second = await shown(inspector, key, ({ holders }) => {
        const [fencingToken] = holders.map((each) => each.fencingToken);
        return fencingToken !== undefined && fencingToken !== leader!.fencingToken;
      });
      const [successor, ...others] = second.holders;
      expect(others).toEqual([]);
      expect(BigInt(successor!.fencingToken!)).toBeGreaterThan(BigInt(leader!.fencingToken!));
      expect(['web-1', 'web-2']).toContain(successor!.participant);
      for (const i of [0, 1, 2]) await leave(i, `web-${i}`);
    },
    60_000,
  );

  /** Ends a candidacy; all that it has reported is read. */
  async function leave(member: number, id: string): Promise<void> {
    let news = await team().order(member, `free ${id}`);
    while (news !== 'freed') news = await team().next(member);
  }

  it('knows a latch of processes that report nothing by its nodes, and takes a selector for a mutex', async () => {
    const other = await silentClient();
    const inspector = await inspect(optionsOf('zookeeper'));
    const ids = ['one', 'two', 'three', 'four', 'five'];
    for (const [i, id] of ids.entries()) {
      other.leaderLatch('silent-latch', { id }).start();
      other.leaderSelector('silent-selector', () => new Promise(() => {}), { id }).start();
      await eventually('both stand for election', async () => {
        const { held, waiting } = other.status();
        return held + waiting === 2 * (i + 1);
      });
      await shown(inspector, 'silent-latch', ({ queue }) => queue.length === i);
      await shown(inspector, 'silent-selector', ({ queue }) => queue.length === i);
    }
    const latch = await shown(inspector, 'silent-latch', (it) => idsOf(it) === ids.join());
    expect(latch.kind).toBe('leader latch');
    expect(latch.holders).toMatchObject([{ participant: 'one' }]);
    const selector = await shown(inspector, 'silent-selector', () => true);
    expect(selector.kind).toBe('mutex');
    const nodes = [...selector.holders, ...selector.queue];
    expect(nodes.map(({ data }) => data)).toEqual(ids);
  }, 60_000);
});

describe('The inspector, of processes that report nothing to it,', () => {
  it("shows Redisson's locks that it finds on the server, and releases them", async () => {
    const inspector = await inspect({ backend: 'redis', connect: redis().url, prefix: 'shop:' });
    await redis().command('HSET', 'shop:java', JAVA, 2);
    await redis().command('HSET', 'shop:catalogue', 'mode', 'write', `${JAVA}:write`, 1);
    await redis().command('HSET', 'shop:basket', 'apples', 2);
    await redis().command('HSET', 'elsewhere', JAVA, 1);
    await redis().command('RPUSH', 'redisson_lock_queue:{shop:java}', 'waiter:1');

    const lock = await shown(inspector, 'java');
    expect(lock).toMatchObject({ kind: 'mutex', queue: [{ ids: ['waiter:1'] }] });
    expect(lock.holders).toEqual([{ ids: [JAVA] }]);
    const written = await shown(inspector, 'catalogue');
    expect(written.holders).toEqual([{ ids: [JAVA], mode: 'write' }]);
    const [client] = (await inspector.snapshot()).clients;
    expect(client!.locks.map(({ key }) => key)).toEqual(['catalogue', 'java']);

    for (const name of ['shop:java', 'shop:catalogue']) {
      expect(await inspector.release('default', name, [JAVA])).toBe(true);
      expect(await redis().command('EXISTS', name)).toBe(0);
    }
  });

  it('shows the permits of a semaphore, and releases those of one holder', async () => {
    const app = await boot({ backend: 'redis', connect: redis().url, prefix: 'pool:' });
    const inspector = app.get(LockInspector);
    const locks = clientOf(app) as RedisLockClient;
    const desks = locks.semaphore('desks', { permits: 3 });
    const mine = await desks.acquire({ permits: 2, method: 'Desk.take' });
    const id = 'aa'.repeat(16);
    const inAnHour = Date.now() + 3_600_000;
    await redis().command('ZADD', '{pool:desks}:timeout', inAnHour, Buffer.from(id, 'hex'));

    const lock = await shown(inspector, 'desks', (each) => each.holders.length === 2);
    expect(lock.kind).toBe('semaphore');
    const [own] = lock.holders.filter(({ method }) => method === 'Desk.take');
    expect([...own!.ids].sort()).toEqual([...mine.permitIds].sort());
    expect(await inspector.release('default', lock.name, [id])).toBe(true);
    expect(mine.isHeld).toBe(true);
    expect(await inspector.release('default', lock.name, own!.ids)).toBe(true);
    expect(mine.isHeld).toBe(false);
    await shownAs(app, 'they are gone', ({ locks: all }) => all.length === 0);
  });

  it('shows a lock of a majority of servers once, also while one of them is down', async () => {
    const servers = await IndependentRedisServers.start(3);
    cleanup(servers, (each) => each.stop());
    const app = await boot({
      backend: 'redis',
      nodes: servers.nodes,
      shutdownTimeout: 500,
    });
    const inspector = app.get(LockInspector);
    const lease = await clientOf(app).mutex('order').acquire({ method: 'Orders.pay' });
    const lock = await shown(inspector, 'order', (each) => each.holders[0]?.ids.length === 3);
    expect(lock.holders).toMatchObject([{ method: 'Orders.pay', pid: process.pid }]);
    await servers.kill(0);
    await shown(inspector, 'order', (each) => each.holders.length === 1);
    expect(await inspector.release('default', lock.name, lock.holders[0]!.ids)).toBe(true);
    expect(lease.isHeld).toBe(false);

    const latches = ['web-1', 'web-2'].map((id) => clientOf(app).leaderLatch('cron', { id }));
    const [leader, follower] = latches as [LeaderLatch, LeaderLatch];
    leader.start();
    await leader.awaitLeadership();
    follower.start();
    const election = await shown(inspector, 'cron', (it) => it.queue.length === 1);
    expect(election).toMatchObject({
      kind: 'leader latch',
      holders: [{ participant: 'web-1' }],
      queue: [{ participant: 'web-2' }],
    });
    const { signal } = leader.leadership!;
    const { ids } = election.holders[0]!;
    expect(await inspector.release('default', election.name, ids)).toBe(true);
    expect(signal.aborted).toBe(true);
  });

  it('shows the present caller of a lock that was handed on, a lock that is shared, and how many are kept', async () => {
    const app = await boot({ backend: 'redis', connect: redis().url });
    const locks = clientOf(app);
    const bounds = { atMost: 9, for: 600_000 };
    const handOff = { ...bounds, keep: 5_000 };
    const hot = locks.mutex('hot', { handOff });
    await hot.using(() => {}, { method: 'Seats.take' });
    const held = [await hot.acquire({ method: 'Seats.free' })];
    const reading = locks.readWriteLock('prices', { handOff: bounds }).readLock();
    held.push(await reading.acquire({ method: 'Prices.list' }), await reading.acquire());
    await locks.mutex('cold', { handOff }).using(() => {});
    const [client] = (await app.get(LockInspector).snapshot()).clients;
    expect(client!.processes).toMatchObject([{ held: 3, kept: 1 }]);
    const holdersOf = (key: string) => client!.locks.find((lock) => lock.key === key)!.holders;
    expect(holdersOf('hot')).toMatchObject([{ method: 'Seats.free', handOffs: 1 }]);
    expect(holdersOf('prices')).toMatchObject([{ method: 'Prices.list', handOffs: 1 }]);
    await Promise.all(held.map((lease) => lease.release()));
  });

  it('shows what the nodes of ZooKeeper carry, and says when the servers do not answer', async () => {
    const other = await silentClient();
    const connect = zookeeper().connectString;
    const app = await boot({ backend: 'zookeeper', connect });
    const inspector = app.get(LockInspector);
    const held = await other.mutex('seat 1', { data: '10.0.0.7' }).acquire();
    const waiting = other
      .mutex('seat 1')
      .acquire()
      .catch(() => {});
    const lock = await shown(inspector, 'seat 1', (each) => each.queue.length === 1);
    expect(lock).toMatchObject({ kind: 'mutex', name: '/locks/seat%201' });
    const fencingToken = String(await held.fencingToken());
    const [holder] = lock.holders;
    expect(holder).toMatchObject({ ids: held.paths, data: '10.0.0.7', fencingToken });
    expect(Math.abs(Date.now() - holder!.since!)).toBeLessThan(60_000);
    expect(lock.queue[0]!.since).toBeGreaterThanOrEqual(holder!.since!);

    const mine = await clientOf(app).mutex('mine').acquire({ method: 'Mine.do' });
    await zookeeper().kill();
    const problem = await eventually('it says so', async () => {
      const [client] = (await inspector.snapshot()).clients;
      expect(client!.locks).toMatchObject([{ key: 'mine', holders: [{ method: 'Mine.do' }] }]);
      return client!.problems.join();
    });
    expect(problem).toContain('The servers did not report the holders');
    await Promise.all([other.close(100), mine.release(), waiting]);
    await apps.close();
    await zookeeper().restart();
  }, 60_000);
});

describe.each(['zookeeper', 'redis'] as const)('The inspectors of two apps (%s)', (backend) => {
  const deployment = useDeployment(backend);

  it('find each other again when the server was away', async () => {
    const [one, two] = await Promise.all([
      boot(deployment().options()),
      boot(deployment().options()),
    ]);
    const both = ({ processes }: InspectedClient) => processes.length === 2;
    await shownAs(one, 'both are there', both);

    await deployment().kill(0);
    await shownAs(one, 'it knows of no other process', ({ processes, problems }) => {
      return processes.length === 1 && problems.length > 0;
    });
    await deployment().restore();
    await shownAs(one, 'both are there again', both);
    await shownAs(two, 'the other way round too', both);
    await apps.close(two);
    await shownAs(one, 'the one that was closed is not missed', ({ processes, problems }) => {
      return processes.length === 1 && problems.length === 0;
    });
  }, 60_000);
});

describe('The inspectors of two apps on Redis', () => {
  const cluster = useRedisCluster();

  it('find the locks of all masters of a cluster, and the waiters of each other', async () => {
    const options = { backend: 'redis' as const, cluster: { nodes: cluster().nodes } };
    const [one, two] = [await boot(options), await boot(options)];
    const foreign = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => `java-${key}`);
    for (const key of foreign) await (await cluster().masterOf(key)).command('HSET', key, JAVA, 1);
    const lease = await clientOf(two).mutex('seat').acquire({ method: 'Seats.book' });
    const waiting = clientOf(two).mutex('seat').acquire({ method: 'Seats.cancel' });
    const { locks } = await shownAs(one, 'all of them', ({ locks: found }) => {
      return found.length === 7 && found.some(({ queue }) => queue.length === 1);
    });
    expect(locks.map(({ key }) => key)).toEqual([...foreign, 'seat']);
    expect(locks.at(-1)).toMatchObject({
      holders: [{ method: 'Seats.book' }],
      queue: [{ method: 'Seats.cancel' }],
    });
    await lease.release();
    await (await waiting).release();
  }, 90_000);

  it('come round a large server, a part of its keys at a time', async () => {
    await redis().command('FLUSHALL');
    for (let i = 0; i < 2_000; i++) await redis().command('SET', `value:${i}`, i);
    await redis().command('HSET', 'java', JAVA, 1);
    const app = await boot({ backend: 'redis', connect: redis().url }, 100);
    let looks = 0;
    await shownAs(app, 'it is found', ({ locks }) => {
      looks += 1;
      return locks.some(({ key }) => key === 'java');
    });
    expect(looks).toBeLessThanOrEqual(40);
    await shownAs(app, 'it stays', ({ locks }) => locks.length === 1);

    await redis().command('DEL', 'java');
    await shownAs(app, 'it is gone', ({ locks }) => locks.length === 0);
    const deaf = await boot({ backend: 'redis', connect: redis().url }, 0);
    await redis().command('HSET', 'java', JAVA, 1);
    const [client] = (await deaf.get(LockInspector).snapshot()).clients;
    expect(client!.locks).toEqual([]);
  });
});
