import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LockInspector, type InspectedClient } from '../../lib/inspector/index.js';
import type { LockModuleOptions } from '../../lib/index.js';
import { clientOf } from '../e2e/support/apps.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { inspectingApp } from './support/inspecting-app.js';

const BACKENDS = [
  {
    name: 'ZooKeeper',
    start: () => ZooKeeperServer.start(),
    options: (server: ZooKeeperServer | RedisServer) => ({
      backend: 'zookeeper' as const,
      connect: (server as ZooKeeperServer).connectString,
    }),
  },
  {
    name: 'Redis',
    start: () => RedisServer.start(),
    options: (server: ZooKeeperServer | RedisServer) => ({
      backend: 'redis' as const,
      connect: (server as RedisServer).url,
    }),
  },
];

describe('The inspectors of two apps', () => {
  const open: { stop(): Promise<unknown> }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.stop();
  });

  async function boot(options: LockModuleOptions, scan?: number): Promise<INestApplication> {
    const { app } = await inspectingApp([options], { path: false, scan });
    open.push({ stop: () => app.close() });
    return app;
  }

  /** Waits until the inspector of that app shows what is wanted. */
  const shown = (app: INestApplication, what: string, isRight: (it: InspectedClient) => boolean) =>
    eventually(
      what,
      async () => {
        const [client] = (await app.get(LockInspector).snapshot()).clients;
        return isRight(client!) && client;
      },
      { within: 25_000 },
    );

  it.each(BACKENDS)(
    'find each other again when $name was away',
    async ({ start, options }) => {
      const server = await start();
      open.push(server);
      const [one, two] = [await boot(options(server)), await boot(options(server))];
      const both = ({ processes }: InspectedClient) => processes.length === 2;
      await shown(one, 'both are there', both);

      await server.kill();
      await shown(one, 'it knows of no other process', ({ processes, problems }) => {
        return processes.length === 1 && problems.length > 0;
      });
      await server.restart();
      await shown(one, 'both are there again', both);
      await shown(two, 'the other way round too', both);
      await two.close();
      await shown(one, 'the one that was closed is not missed', ({ processes, problems }) => {
        return processes.length === 1 && problems.length === 0;
      });
    },
    60_000,
  );

  it('find the locks of all masters of a cluster, and the waiters of each other', async () => {
    const cluster = await RedisCluster.start();
    open.push(cluster);
    const options = { backend: 'redis' as const, cluster: { nodes: cluster.nodes } };
    const [one, two] = [await boot(options), await boot(options)];
    const foreign = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => `java-${key}`);
    for (const key of foreign)
      await (
        await cluster.masterOf(key)
      ).command('HSET', key, '0f0e0d0c-0b0a-4908-8706-050403020100:7', 1);
    const lease = await clientOf(two).mutex('seat').acquire({ method: 'Seats.book' });
    const waiting = clientOf(two).mutex('seat').acquire({ method: 'Seats.cancel' });
    const { locks } = await shown(one, 'all of them', ({ locks: found }) => {
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
    const server = await RedisServer.start();
    open.push(server);
    for (let i = 0; i < 2_000; i++) await server.command('SET', `value:${i}`, i);
    await server.command('HSET', 'java', '0f0e0d0c-0b0a-4908-8706-050403020100:7', 1);
    const app = await boot({ backend: 'redis', connect: server.url }, 100);
    let looks = 0;
    await shown(app, 'it is found', ({ locks }) => {
      looks += 1;
      return locks.some(({ key }) => key === 'java');
    });
    expect(looks).toBeLessThanOrEqual(40);
    await shown(app, 'it stays', ({ locks }) => locks.length === 1);

    await server.command('DEL', 'java');
    await shown(app, 'it is gone', ({ locks }) => locks.length === 0);
    const deaf = await boot({ backend: 'redis', connect: server.url }, 0);
    await server.command('HSET', 'java', '0f0e0d0c-0b0a-4908-8706-050403020100:7', 1);
    const [client] = (await deaf.get(LockInspector).snapshot()).clients;
    expect(client!.locks).toEqual([]);
  });
});
