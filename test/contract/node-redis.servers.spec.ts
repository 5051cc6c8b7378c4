import { describe } from '@jest/globals';
import * as redis from 'redis';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { tier } from '../support/tier.js';
import { overNodeRedis, standaloneRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { clientStatusLossSuite } from './client-status.suite.js';
import { exportedContractSuite } from './exported-contract.suite.js';
import { redisGuardedWriteSuite } from './guarded-write.suite.js';
import { redisMutexSuite, redisSemaphoreSuite } from './redis-locks.suite.js';
import { redisSuite } from './redis.suite.js';

describe('Redis by node-redis', () => {
  const on = useDeployment('a Redis server', () => overNodeRedis(standaloneRedis, redis), [
    'recipe',
    'deployment',
  ]);

  if (tier === 'long') redisSuite(on);
  else {
    redisMutexSuite(on);
    redisSemaphoreSuite(on);
    redisGuardedWriteSuite(on);
  }
  exportedContractSuite(
    'a Redis server, by node-redis,',
    () => {
      const { host, port } = on.backend().servers[0]!;
      return createRedisLockClient('default', {
        client: redis.createClient({ socket: { host, port } }),
      });
    },
    { isFair: false },
  );
});

clientStatusLossSuite(
  'a Redis server that goes away from node-redis',
  async () => {
    const server = await RedisServer.start();
    const client = redis.createClient({ url: server.url });
    return {
      client: await createRedisLockClient('contract', { client, watchdogTimeout: 2_000 }),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
  'degraded',
);
