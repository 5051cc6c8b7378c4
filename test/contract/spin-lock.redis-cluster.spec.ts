import { clusterRedis } from './cluster-redis.js';
import { redisMutexSuite } from './redis-mutex.suite.js';

redisMutexSuite('a Redis cluster', clusterRedis, 'spin');
