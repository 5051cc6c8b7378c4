import { describe } from '@jest/globals';
import { createClient } from 'redis5';
import { nodeRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { redisSuite } from './redis.suite.js';

describe('Redis by node-redis 5', () => {
  redisSuite(useDeployment('a Redis server', () => nodeRedis(createClient)));
});
