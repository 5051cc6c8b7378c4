import { describe } from '@jest/globals';
import * as redis from 'redis';
import { clusterRedis, overNodeRedis, sentinelRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisClusterSuite, redisSentinelSuite } from './redis.suite.js';

describe('Redis Cluster by node-redis', () => {
  const start = () => overNodeRedis(clusterRedis, redis);
  redisClusterSuite(useDeployment('a Redis cluster', start, ['deployment']));
});

describe('Redis Sentinel by node-redis', () => {
  const start = () => overNodeRedis(sentinelRedis, redis);
  redisSentinelSuite(useDeployment('a Redis master behind sentinels', start, ['deployment']));
});
