import { describe } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { standaloneRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { clientStatusLossSuite } from './client-status.suite.js';
import { exportedContractSuite } from './exported-contract.suite.js';
import { redisSuite } from './redis.suite.js';

describe('Redis', () => {
  const on = useDeployment('a Redis server', standaloneRedis);

  redisSuite(on);
  exportedContractSuite(
    'a Redis server',
    () => createRedisLockClient('default', { client: on.backend().client() }),
    { isFair: false },
  );
});

clientStatusLossSuite(
  'a Redis server that goes away',
  async () => {
    const server = await RedisServer.start();
    const client = server.client({ lazyConnect: true });
    return {
      client: await createRedisLockClient('contract', { client, watchdogTimeout: 2_000 }),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
  'degraded',
);
