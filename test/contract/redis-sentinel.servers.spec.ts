import { describe } from '@jest/globals';
import { sentinelRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisSentinelSuite } from './redis.suite.js';

describe('Redis Sentinel', () => {
  redisSentinelSuite(
    useDeployment('a Redis master behind sentinels', sentinelRedis, ['deployment']),
  );
});
