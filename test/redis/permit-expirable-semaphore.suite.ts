import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { permitExpirableSemaphoreBadInputSuite } from './permit-expirable-semaphore-bad-input.suite.js';
import { permitExpirableSemaphoreDeclaredSuite } from './permit-expirable-semaphore-declared.suite.js';
import { permitExpirableSemaphoreFairSuite } from './permit-expirable-semaphore-fair.suite.js';
import { permitExpirableSemaphoreLayoutSuite } from './permit-expirable-semaphore-layout.suite.js';
import { permitExpirableSemaphoreLeasesSuite } from './permit-expirable-semaphore-leases.suite.js';
import { permitExpirableSemaphoreManySuite } from './permit-expirable-semaphore-many.suite.js';
import { permitExpirableSemaphorePermitsSuite } from './permit-expirable-semaphore-permits.suite.js';
import { permitExpirableSemaphoreQueueSuite } from './permit-expirable-semaphore-queue.suite.js';
import { permitExpirableSemaphoreRedissonSuite } from './permit-expirable-semaphore-redisson.suite.js';
import { permitExpirableSemaphoreWaitingSuite } from './permit-expirable-semaphore-waiting.suite.js';
import { semaphoreOnRedis } from './semaphore-on-redis.js';

/**
 * Everything that the semaphore with leases promises on Redis beyond what a semaphore promises anywhere (`test/contract`).
 * Contains the cases of RedissonPermitExpirableSemaphoreTest, each marked with its name.
 */
export function permitExpirableSemaphoreSuite(kind: RedisDeploymentKind): void {
  describe(`A semaphore with leases on Redis, ${kind}`, () => {
    const stage = semaphoreOnRedis(kind);

    describe('permits', () => permitExpirableSemaphorePermitsSuite(stage));
    describe('many permits', () => permitExpirableSemaphoreManySuite(stage));
    describe('the leases', () => permitExpirableSemaphoreLeasesSuite(stage));
    describe('waiting', () => permitExpirableSemaphoreWaitingSuite(stage));
    describe('how many there should be', () => permitExpirableSemaphoreDeclaredSuite(stage));
    describe('fair', () => permitExpirableSemaphoreFairSuite(stage));
    describe('the queue of fair waiters', () => permitExpirableSemaphoreQueueSuite(stage));
    describe('the layout', () => permitExpirableSemaphoreLayoutSuite(stage));
    describe('what Redisson leaves', () => permitExpirableSemaphoreRedissonSuite(stage));
    describe('bad input', () => permitExpirableSemaphoreBadInputSuite(stage));
  });
}
