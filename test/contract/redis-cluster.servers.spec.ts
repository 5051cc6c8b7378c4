import { describe } from '@jest/globals';
import { clusterRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisClusterSuite } from './redis.suite.js';

describe('Redis Cluster', () => {
  redisClusterSuite(useDeployment('a Redis cluster', clusterRedis, ['deployment']));
});
