import { redisMultiLockSuite } from './redis-multi-lock.suite.js';
import { standaloneRedis } from './standalone-redis.js';

redisMultiLockSuite('a Redis server', standaloneRedis);
redisMultiLockSuite('a Redis server', standaloneRedis, 'fencedMultiLock');
