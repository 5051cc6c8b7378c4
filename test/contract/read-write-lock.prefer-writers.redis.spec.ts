import { redisReadWriteLockSuite } from './redis-read-write-lock.suite.js';
import { standaloneRedis } from './standalone-redis.js';

redisReadWriteLockSuite('a Redis server', standaloneRedis, { preferWriters: true });
