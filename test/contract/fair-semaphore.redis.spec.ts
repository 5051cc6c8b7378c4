import { redisSemaphoreSuite } from './redis-semaphore.suite.js';
import { standaloneRedis } from './standalone-redis.js';

redisSemaphoreSuite('a Redis server', standaloneRedis, { isFair: true });
