import { describe } from '@jest/globals';
import { onStage } from './on-stage.js';
import type { RedisBackend } from './redis-backend.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisSemaphoreStage } from './redis-semaphore-stage.js';
import { RedisStage } from './redis-stage.js';
import { semaphoreContractSuite } from './semaphore-contract.suite.js';

/** What every semaphore promises, of that on Redis. Only the fair one has one queue for all clients. */
export function redisSemaphoreSuite(
  name: string,
  makeBackend: () => Promise<RedisBackend>,
  { isFair = false } = {},
): void {
  describe(`A ${isFair ? 'fair ' : ''}semaphore on ${name}`, () => {
    const stage = onStage(async () => RedisStage.build(await makeBackend(), redisRecipes.mutex));

    semaphoreContractSuite(stage, new RedisSemaphoreStage(stage, isFair));
  });
}
