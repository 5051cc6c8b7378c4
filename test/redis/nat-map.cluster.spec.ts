import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisProxy } from '../support/redis-proxy.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message. */
const LONG_LEASE = 600_000;

describe('A Redis Cluster that has other addresses for its clients', () => {
  const clients: RedisLockClient[] = [];
  let cluster: RedisCluster;
  let proxies: readonly RedisProxy[];

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    proxies = await Promise.all(cluster.servers.map((server) => RedisProxy.start(server)));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster.stop();
  });

  it('is reached by them for locks, their messages, and the state of replicas', async () => {
    const [mine, theirs] = await Promise.all([connect(), connect()]);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const lease = await mine.mutex(key).acquire({ lease: LONG_LEASE });
      const waiting = theirs.mutex(key).acquire();
      await eventually('it is waited for', () => sent('ssubscribe', `{${key}}`));
      await lease.release();
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
    }
    expect(sent(lockAcquire.sha1, 'a')).toBe(true);
    expect(sent('wait', '1')).toBe(true);
  });

  /** A client that may know no address but those of the proxies. */
  async function connect(): Promise<RedisLockClient> {
    const natMap = Object.fromEntries(
      cluster.servers.map(({ host, port }, i) => [
        `${host}:${port}`,
        { host: proxies[i]!.host, port: proxies[i]!.port },
      ]),
    );
    const nodes = proxies.map(({ host, port }) => ({ host, port }));
    const options = { natMap, redisOptions: { disconnectTimeout: 0 } };
    const client = await createRedisLockClient('test', {
      cluster: { nodes, options },
      replicas: { atLeast: 1 },
    });
    clients.push(client);
    await client.connect();
    return client;
  }

  function sent(name: string, part: string): boolean {
    return proxies.some(({ commands }) =>
      commands.some((command) => command.includes(name) && command.some((it) => it.includes(part))),
    );
  }
});
