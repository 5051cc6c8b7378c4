import { redisReadWriteLockSuite } from './redis-read-write-lock.suite.js';
import { sentinelRedis } from './sentinel-redis.js';

redisReadWriteLockSuite('a Redis master behind sentinels', sentinelRedis);
