import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { RECIPES } from './recipes.js';

describe('A client that is not one of a cluster', () => {
  let client: RedisLockClient;

  afterEach(async () => {
    await client.close();
    jest.restoreAllMocks();
  });

  /** Connects, and resolves to the warnings. */
  async function warningsOf(server: RedisServer): Promise<string[]> {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    client = await createRedisLockClient('plain', { connect: server.url });
    await client.connect();
    return warn.mock.calls.map(([warning]) => String(warning));
  }

  describe('at a node of one', () => {
    let cluster: RedisCluster;

    beforeAll(async () => {
      cluster = await RedisCluster.start();
    }, 60_000);
    afterAll(() => cluster.stop());

    it('is warned when it connects, and locks of other nodes reject at once with what to do', async () => {
      const owners = await Promise.all(Object.keys(RECIPES).map((key) => cluster.masterOf(key)));
      for (const [i, [key, lock]] of Object.entries(RECIPES).entries()) {
        const other = cluster.servers.find((server) => server !== owners[i])!;
        const warnings = await warningsOf(other);
        expect(warnings).toEqual([expect.stringContaining('node of a Redis Cluster')]);
        for (const how of ['acquire', 'tryAcquire'] as const) {
          const wanted = lock(client, key);
          const error = await wanted[how]().catch((error: unknown) => error);
          expect(error).toBeInstanceOf(LockConnectionError);
          expect(error).toMatchObject({ key, client: 'plain' });
          expect(String(error)).toMatch(/node of a cluster.*MOVED.*`cluster`/);
        }
        await client.close();
        jest.restoreAllMocks();
      }
    });

    it('may use the locks of that node', async () => {
      await warningsOf(await cluster.masterOf('mine'));
      const lease = await client.mutex('mine').acquire();
      await lease.release();
      expect(client.status().health).toBe('up');
    });
  });

  describe('at a server of its own', () => {
    let server: RedisServer;

    beforeAll(async () => {
      server = await RedisServer.start();
    });
    afterAll(() => server.stop());

    it('is warned of nothing', async () => {
      expect(await warningsOf(server)).toEqual([]);
    });

    it('is warned of a replica', async () => {
      const replica = await RedisServer.start();
      try {
        await replica.command('REPLICAOF', server.host, server.port);
        await eventually('it serves', async () => (await replica.role()).name === 'replica');
        expect(await warningsOf(replica)).toEqual([expect.stringContaining('a replica')]);
        await client.close();
      } finally {
        await replica.stop();
      }
    });

    it('is not warned where it may not ask', async () => {
      await server.command('ACL', 'SETUSER', 'curt', 'on', '>x', '~*', '&*', '+@all', '-info');
      const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
      const { host, port } = server;
      const connect = { host, port, username: 'curt', password: 'x' };
      client = await createRedisLockClient('plain', { connect });
      await client.connect();
      await (await client.mutex('unasked').acquire()).release();
      expect(warn).not.toHaveBeenCalled();
    });
  });
});
