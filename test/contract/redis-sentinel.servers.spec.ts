import { describe } from '@jest/globals';
import { sentinelRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisLeaderElectionSuite } from './leader-election.suite.js';
import {
  redisMutexSuite,
  redisReadWriteLockSuite,
  redisSemaphoreSuite,
} from './redis-locks.suite.js';

describe('Redis Sentinel', () => {
  const on = useDeployment('a Redis master behind sentinels', sentinelRedis, ['deployment']);

  redisMutexSuite(on);
  redisMutexSuite(on, 'fair');
  redisReadWriteLockSuite(on);
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisLeaderElectionSuite(on);
});
