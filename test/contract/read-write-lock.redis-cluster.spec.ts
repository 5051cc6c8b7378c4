import { clusterRedis } from './cluster-redis.js';
import { redisReadWriteLockSuite } from './redis-read-write-lock.suite.js';

redisReadWriteLockSuite('a Redis cluster', clusterRedis);
