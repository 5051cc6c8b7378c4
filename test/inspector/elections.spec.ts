import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LockInspector, type InspectedLock } from '../../lib/inspector/index.js';
import type { LockModuleOptions } from '../../lib/index.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { inspectingApp } from './support/inspecting-app.js';
import { Team } from './support/team.js';

describe('The inspector, of elections in other processes,', () => {
  let zookeeper: ZooKeeperServer;
  let redis: RedisServer;
  let team: Team;
  let app: INestApplication | undefined;

  beforeAll(async () => {
    [zookeeper, redis] = await Promise.all([ZooKeeperServer.start(), RedisServer.start()]);
    team = await Team.start(3, [optionsOf('zookeeper'), optionsOf('redis')]);
  }, 300_000);
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  afterAll(async () => {
    await team?.stop();
    await Promise.all([zookeeper?.stop(), redis?.stop()]);
  });

  const optionsOf = (backend: 'zookeeper' | 'redis'): LockModuleOptions =>
    backend === 'redis'
      ? { name: backend, backend, connect: redis.url, watchdogTimeout: 3_000 }
      : { name: backend, backend, connect: zookeeper.connectString };

  async function inspect(options: LockModuleOptions): Promise<LockInspector> {
    ({ app } = await inspectingApp([options], { path: false }));
    return app.get(LockInspector);
  }

  /** Waits until that election is as wanted. */
  const shown = (
    inspector: LockInspector,
    key: string,
    isRight: (election: InspectedLock) => unknown,
  ) =>
    eventually(`${key} is shown`, async () => {
      const [client] = (await inspector.snapshot()).clients;
      expect(client!.problems).toEqual([]);
      const election = client!.locks.find((each) => each.key === key);
      return election && isRight(election) ? election : undefined;
    });
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
        expect(await team.order(i, `${backend} ${recipe} ${key} web-${i}`)).toBe(news);
      const first = await shown(inspector, key, (it) => idsOf(it) === 'web-0,web-1,web-2');
      expect(first.kind).toBe(`leader ${recipe}`);
      const [leader] = first.holders;
      expect(leader!.pid).toEqual(expect.any(Number));
      expect(leader!.fencingToken).toMatch(/^\d+$/);

      expect(await inspector.release(backend, first.name, leader!.ids)).toBe(true);
      expect(await team.next(0)).toBe('lost');
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
    let news = await team.order(member, `free ${id}`);
    while (news !== 'freed') news = await team.next(member);
  }

  it('knows a latch of processes that report nothing by its nodes, and takes a selector for a mutex', async () => {
    const other = await createZooKeeperLockClient('other', { connect: zookeeper.connectString });
    try {
      await other.connect();
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
    } finally {
      await other.close(100);
    }
  }, 60_000);
});
