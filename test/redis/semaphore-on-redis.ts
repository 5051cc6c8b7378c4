import { afterEach } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { onRedis } from './on-redis.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/**
 * As `onRedis`, for semaphores: the number of permits stays when none is held, and expired permits stay until the next acquire;
 * so both are removed after each test. Nothing else may be left.
 */
export function semaphoreOnRedis(kind: RedisDeploymentKind): () => RedisStage {
  afterEach(async () => {
    await stage().clear();
    const { free, timeouts, wanted } = semaphoreNames(stage().key);
    await stage().command('DEL', free, wanted);
    if ((await stage().command('TYPE', timeouts)) === 'zset')
      await stage().command('ZREMRANGEBYSCORE', timeouts, 0, Date.now());
  });

  const stage = onRedis(kind); // checks after each test, after the removal
  return stage;
}
