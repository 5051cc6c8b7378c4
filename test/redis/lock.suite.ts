import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { fencedLockSuite } from './fenced-lock.suite.js';
import { lockHoldersSuite } from './lock-holders.suite.js';
import { lockKindsSuite } from './lock-kinds.suite.js';
import { lockLayoutSuite } from './lock-layout.suite.js';
import { lockLeaseSuite } from './lock-lease.suite.js';
import { lockOwnershipSuite } from './lock-ownership.suite.js';
import { lockScriptsSuite } from './lock-scripts.suite.js';
import { lockWaitingSuite } from './lock-waiting.suite.js';
import { onRedis } from './on-redis.js';

/**
 * Everything that the mutex promises on Redis beyond what a mutex promises anywhere (`test/contract`). Contains the cases of
 * RedissonLockTest, RedissonLockExpirationRenewalTest and RedissonFencedLockTest, each marked with its name.
 */
export function lockSuite(kind: RedisDeploymentKind): void {
  describe(`A mutex on Redis, ${kind}`, () => {
    const stage = onRedis(kind);

    describe('ownership', () => lockOwnershipSuite(stage));
    describe('waiting', () => lockWaitingSuite(stage));
    describe('the lease', () => lockLeaseSuite(stage));
    describe('the holders', () => lockHoldersSuite(stage));
    describe('the layout', () => lockLayoutSuite(stage));
    describe('fenced', () => fencedLockSuite(stage));
    describe('the scripts', () => lockScriptsSuite(stage));
    describe('kinds', () => lockKindsSuite(stage));
  });
}
