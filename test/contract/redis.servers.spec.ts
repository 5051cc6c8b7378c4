import { describe } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { standaloneRedis } from './backends/redis-servers.js';
import { redisRecipes, RedisStage } from './backends/redis.js';
import { useDeployment } from './backends/stage.js';
import { clientStatusLossSuite, clientStatusSuite } from './client-status.suite.js';
import { exportedContractSuite } from './exported-contract.suite.js';
import { redisLeaderElectionSuite } from './leader-election.suite.js';
import {
  redisMutexSuite,
  redisReadWriteLockSuite,
  redisSemaphoreSuite,
  redisStatusSuite,
} from './redis-locks.suite.js';
import { redisMultiLockSuite } from './redis-multi-lock.suite.js';

describe('Redis', () => {
  const on = useDeployment('a Redis server', standaloneRedis);

  redisMutexSuite(on);
  redisMutexSuite(on, 'fenced');
  redisMutexSuite(on, 'fair');
  redisMutexSuite(on, 'spin');
  redisMutexSuite(on, 'semaphoreMutex');
  redisReadWriteLockSuite(on);
  redisReadWriteLockSuite(on, { preferWriters: true });
  redisMultiLockSuite(on);
  redisMultiLockSuite(on, 'fencedMultiLock');
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisLeaderElectionSuite(on);
  clientStatusSuite(on, () => RedisStage.build(on.backend(), redisRecipes.mutex), {
    holders: (stage) => stage.contenders(),
    suspended: 'degraded',
  });
  redisStatusSuite(on);
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
