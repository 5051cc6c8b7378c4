import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { startRedisDeployment } from '../interop/support/start-redis-deployment.js';
import { RedisStage } from './redis-stage.js';

/**
 * Starts Redis for the tests of the surrounding `describe`. Each test gets a key of its own and new clients, and has to leave
 * nothing behind.
 */
export function onRedis(kind: RedisDeploymentKind): () => RedisStage {
  let stage: RedisStage;

  beforeAll(async () => {
    stage = new RedisStage(await startRedisDeployment(kind));
  }, 60_000);
  afterAll(() => stage.deployment.stop());
  beforeEach(() => stage.reset());
  afterEach(async () => {
    await stage.clear();
    await stage.isEmpty();
  });

  return () => stage;
}
