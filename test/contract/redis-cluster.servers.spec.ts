import { describe } from '@jest/globals';
import { clusterRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisLeaderElectionSuite } from './leader-election.suite.js';
import {
  redisMutexSuite,
  redisReadWriteLockSuite,
  redisSemaphoreSuite,
} from './redis-locks.suite.js';
import { redisMultiLockSuite } from './redis-multi-lock.suite.js';

describe('Redis Cluster', () => {
  const on = useDeployment('a Redis cluster', clusterRedis, ['deployment']);

  redisMutexSuite(on);
  redisMutexSuite(on, 'fair');
  redisMutexSuite(on, 'spin');
  redisReadWriteLockSuite(on);
  redisMultiLockSuite(on);
  redisMultiLockSuite(on, 'slotMultiLock');
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisLeaderElectionSuite(on);
});
