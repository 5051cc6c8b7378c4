import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../support/redis-server.js';
import type { Peer } from './support/peer.js';
import { redissonClassPath } from './support/redisson-build.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';

const isBuilt = redissonClassPath() !== undefined;

(isBuilt ? describe : describe.skip)('A RedLock over three servers shared with Redisson', () => {
  let servers: RedisServer[] = [];
  let node: Peer;
  let java: Peer;
  let tests = 0;
  const nextName = () => `red-lock-${++tests}`;
  const ways = [
    { title: 'Node holds it', first: () => node, second: () => java },
    { title: 'Java holds it', first: () => java, second: () => node },
  ];

  beforeAll(async () => {
    servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    const urls = servers.map(({ url }) => url);
    [node, java] = (await Promise.all(
      [startRedisNodePeer, startRedissonPeer].map((start) => start(urls, { isRedLock: true })),
    )) as [Peer, Peer];
  }, 60_000);
  afterAll(async () => {
    await Promise.all([node?.stop(), java?.stop()]);
    await Promise.all(servers.map((server) => server.stop()));
  });

  it.each(ways)('excludes the other side, and then goes to it, while $title', async (way) => {
    const name = nextName();
    const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
    expect(await holder.acquire(name)).toBe(true);
    expect(await another.tryAcquire(name)).toBe(false);
    expect(await another.acquire(name, { wait: 1_000 })).toBe(false);
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
      const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
      await servers[1]!.command('HSET', name, 'stranger:1', 1);
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
      const owner = peer.redisActor();
      expect(await owner.acquire(name)).toBe(true);
      expect(++inside).toBe(1);
      await servers[0]!.command('PING'); // time for another one to enter
      inside -= 1;
      await owner.release(name);
    });
    await Promise.all(turns);
    for (const server of servers) expect(await server.command('EXISTS', name)).toBe(0);
  });
});
