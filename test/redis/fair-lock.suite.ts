import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { fairLockArithmeticSuite } from './fair-lock-arithmetic.suite.js';
import { fairLockDeadWaitersSuite } from './fair-lock-dead-waiters.suite.js';
import { fairLockLateCopiesSuite } from './fair-lock-late-copies.suite.js';
import { fairLockLeaversSuite } from './fair-lock-leavers.suite.js';
import { fairLockLinesSuite } from './fair-lock-lines.suite.js';
import { fairLockOrderSuite } from './fair-lock-order.suite.js';
import { fairLockOwnershipSuite } from './fair-lock-ownership.suite.js';
import { onRedis } from './on-redis.js';

/**
 * Everything that the fair mutex promises on Redis beyond what a mutex promises anywhere (`test/contract`). Contains the cases
 * of RedissonFairLockTest, each marked with its name.
 */
export function fairLockSuite(kind: RedisDeploymentKind): void {
  describe(`A fair mutex on Redis, ${kind}`, () => {
    const stage = onRedis(kind);

    describe('ownership', () => fairLockOwnershipSuite(stage));
    describe('order', () => fairLockOrderSuite(stage));
    describe('the arithmetic of the queue', () => fairLockArithmeticSuite(stage));
    describe('waiters that leave the queue', () => fairLockLeaversSuite(stage));
    describe('waiters that die together', () => fairLockDeadWaitersSuite(stage));
    describe('the waiters of one process', () => fairLockLinesSuite(stage));
    describe('scripts that are sent twice', () => fairLockLateCopiesSuite(stage));
  });
}
