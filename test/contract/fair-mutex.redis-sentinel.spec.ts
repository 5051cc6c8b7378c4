import { redisMutexSuite } from './redis-mutex.suite.js';
import { sentinelRedis } from './sentinel-redis.js';

redisMutexSuite('a Redis master behind sentinels', sentinelRedis, 'fair');
