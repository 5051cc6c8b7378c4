import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { semaphoreBadInputSuite } from './semaphore-bad-input.suite.js';
import { semaphoreLayoutSuite } from './semaphore-layout.suite.js';
import { semaphoreOnRedis } from './semaphore-on-redis.js';
import { semaphorePermitsSuite } from './semaphore-permits.suite.js';
import { semaphoreWaitingSuite } from './semaphore-waiting.suite.js';

/**
 * Everything that the semaphore without permit owners promises. Contains the cases of RedissonSemaphoreTest, each marked with
 * its name.
 */
export function semaphoreSuite(kind: RedisDeploymentKind): void {
  describe(`A plain semaphore on Redis, ${kind}`, () => {
    const stage = semaphoreOnRedis(kind);

    describe('permits', () => semaphorePermitsSuite(stage));
    describe('waiting', () => semaphoreWaitingSuite(stage));
    describe('the layout', () => semaphoreLayoutSuite(stage));
    describe('bad input', () => semaphoreBadInputSuite(stage));
  });
}
