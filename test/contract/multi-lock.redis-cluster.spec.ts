import { clusterRedis } from './cluster-redis.js';
import { redisMultiLockSuite } from './redis-multi-lock.suite.js';

redisMultiLockSuite('a Redis cluster', clusterRedis);
redisMultiLockSuite('a Redis cluster', clusterRedis, 'slotMultiLock');
