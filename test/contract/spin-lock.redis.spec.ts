import { redisMutexSuite } from './redis-mutex.suite.js';
import { standaloneRedis } from './standalone-redis.js';

redisMutexSuite('a Redis server', standaloneRedis, 'spin');
