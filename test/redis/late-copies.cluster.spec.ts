import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { CommandFilter, LateCopy } from '../support/late-copy.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { extend, SINGLE_KINDS } from './late-copies-kinds.js';

const SHORT = 12_000;
const LONG = 120_000;

describe('In a Redis Cluster a late copy', () => {
  const clients: RedisLockClient[] = [];
  let cluster: RedisCluster;
  let proxies: readonly RedisProxy[];
  let mine: RedisLockClient;
  let theirs: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    proxies = await Promise.all(cluster.servers.map((server) => RedisProxy.start(server)));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster.stop();
  });
  beforeEach(async () => {
    key = `{${randomUUID()}}`;
    [mine, theirs] = await Promise.all([
      connect(proxies, natMap()),
      connect(cluster.servers, undefined),
    ]);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  describe.each(SINGLE_KINDS)('of an acquire of a %s', (_, of, rival) => {
    beforeEach(async () => {
      const lease = await of(mine, `${key} before`).acquire(); // from here on the server knows the scripts
      await extend(lease, LONG);
      await lease.release();
    });

    it('shortens no lease', async () => {
      const [lease, copy] = await late(() => of(mine, key).acquire({ lease: SHORT }));
      await extend(lease, LONG);
      await arrive(copy);
      expect(await leaseLeft()).toBeGreaterThan(LONG / 2);
      expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    });

    it('takes nothing once the lease was released', async () => {
      const [lease, copy] = await late(() => of(mine, key).acquire());
      await lease.release();
      await arrive(copy);
      expect(await rival(theirs, key).tryAcquire()).toMatchObject({ isHeld: true });
    });
  });

  it('of a count-down counts nothing', async () => {
    key = randomUUID();
    await theirs.countDownLatch(key).trySetCount(4);
    await theirs.countDownLatch(key).countDown(); // from here on its server knows the scripts
    const [, copy] = await late(() => mine.countDownLatch(key).countDown());
    await mine.close(); // what it has sent afterwards has arrived too
    await arrive(copy);
    expect(await theirs.countDownLatch(key).getCount()).toBe(2);
  });

  /**
   * Runs an action of which the first script about the key is held up until its connection is given up; resolves to its result
   * and the late copy.
   */
  async function late<T>(work: () => Promise<T>): Promise<[T, LateCopy]> {
    let isSent = false;
    const isFirst: CommandFilter = ([name, ...args]) => {
      if (isSent || !/^eval/i.test(name!) || !args.includes(key)) return false;
      return (isSent = true); // what is sent again may go to any of the servers, and is not held up
    };
    const copies = proxies.map((proxy) => proxy.strand(isFirst));
    const working = work();
    working.catch(() => {}); // awaited below
    const copy = await eventually('it is under way', () => copies.find(({ count }) => count > 0));
    copy.giveUp();
    return [await working, copy];
  }

  async function arrive(copy: LateCopy): Promise<void> {
    const replies = (await copy.deliver()).map(String);
    expect(replies).not.toContainEqual(expect.stringMatching(/^(NOSCRIPT|MOVED)/));
  }

  /** Remaining time in ms of the lock, hold or permit that expires first. */
  async function leaseLeft(): Promise<number> {
    const server = await cluster.masterOf(key);
    const names = (await server.command('KEYS', `*${key.slice(1, -1)}*`)) as string[];
    const lefts = names.map(async (name) => {
      const isPermits = name.endsWith(':timeout');
      if (!isPermits) return (await server.command('PTTL', name)) as number;
      const [, end] = (await server.command('ZRANGE', name, 0, 0, 'WITHSCORES')) as string[];
      return end === undefined ? -1 : Number(end) - Date.now();
    });
    const isLease = (name: string) => name === key || /:(timeout|rwlock_timeout:1)$/.test(name);
    const left = (await Promise.all(lefts)).filter((ms, i) => ms >= 0 && isLease(names[i]!));
    return Math.min(...left);
  }

  function natMap() {
    return Object.fromEntries(
      cluster.servers.map(({ host, port }, i) => [
        `${host}:${port}`,
        { host: proxies[i]!.host, port: proxies[i]!.port },
      ]),
    );
  }

  async function connect(
    servers: readonly { readonly host: string; readonly port: number }[],
    natMap: object | undefined,
  ): Promise<RedisLockClient> {
    const nodes = servers.map(({ host, port }) => ({ host, port }));
    const options = { natMap, redisOptions: { disconnectTimeout: 0 } };
    const client = await createRedisLockClient('test', { cluster: { nodes, options } });
    clients.push(client);
    await client.connect();
    return client;
  }
});
