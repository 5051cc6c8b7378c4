import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { onRedis } from './on-redis.js';
import { spinLockOwnershipSuite } from './spin-lock-ownership.suite.js';
import { spinLockSpinningSuite } from './spin-lock-spinning.suite.js';
import { spinLockWaitingSuite } from './spin-lock-waiting.suite.js';

/** Everything that the spin lock promises. Contains the cases of RedissonSpinLockTest, each marked with its name. */
export function spinLockSuite(kind: RedisDeploymentKind): void {
  describe(`A spin lock on Redis, ${kind}`, () => {
    const stage = onRedis(kind);

    describe('ownership', () => spinLockOwnershipSuite(stage));
    describe('waiting', () => spinLockWaitingSuite(stage));
    describe('spinning', () => spinLockSpinningSuite(stage));
  });
}
