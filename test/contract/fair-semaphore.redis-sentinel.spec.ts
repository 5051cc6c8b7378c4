import { redisSemaphoreSuite } from './redis-semaphore.suite.js';
import { sentinelRedis } from './sentinel-redis.js';

redisSemaphoreSuite('a Redis master behind sentinels', sentinelRedis, { isFair: true });
