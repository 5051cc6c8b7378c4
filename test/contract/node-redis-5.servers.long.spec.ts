import { describe } from '@jest/globals';
import * as redis from 'redis5';
import {
  clusterRedis,
  overNodeRedis,
  sentinelRedis,
  standaloneRedis,
} from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisClusterSuite, redisSentinelSuite, redisSuite } from './redis.suite.js';

describe('Redis by node-redis 5', () => {
  redisSuite(useDeployment('a Redis server', () => overNodeRedis(standaloneRedis, redis)));
});

describe('Redis Cluster by node-redis 5', () => {
  const start = () => overNodeRedis(clusterRedis, redis);
  redisClusterSuite(useDeployment('a Redis cluster', start, ['deployment']));
});

describe('Redis Sentinel by node-redis 5', () => {
  const start = () => overNodeRedis(sentinelRedis, redis);
  redisSentinelSuite(useDeployment('a Redis master behind sentinels', start, ['deployment']));
});
