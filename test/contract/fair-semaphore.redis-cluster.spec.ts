import { clusterRedis } from './cluster-redis.js';
import { redisSemaphoreSuite } from './redis-semaphore.suite.js';

redisSemaphoreSuite('a Redis cluster', clusterRedis, { isFair: true });
