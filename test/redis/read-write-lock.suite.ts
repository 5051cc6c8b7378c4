import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { onRedis } from './on-redis.js';
import { preferWritersSuite } from './read-write-lock-prefer-writers.suite.js';
import { readWriteLockForeignNumbersSuite } from './read-write-lock-foreign-numbers.suite.js';
import { readWriteLockLayoutSuite } from './read-write-lock-layout.suite.js';
import { readWriteLockLeasesSuite } from './read-write-lock-leases.suite.js';
import { readWriteLockSharingSuite } from './read-write-lock-sharing.suite.js';
import { readWriteLockWakingSuite } from './read-write-lock-waking.suite.js';

/**
 * Everything that the read/write lock promises on Redis beyond what it promises anywhere (`test/contract`). Contains the cases
 * of RedissonReadWriteLockTest, each marked with its name.
 */
export function readWriteLockSuite(kind: RedisDeploymentKind): void {
  describe(`A read/write lock on Redis, ${kind}`, () => {
    const stage = onRedis(kind);

    describe('sharing', () => readWriteLockSharingSuite(stage));
    describe('keys and messages', () => readWriteLockLayoutSuite(stage));
    describe('numbers in foreign hashes', () => readWriteLockForeignNumbersSuite(stage));
    describe('leases', () => readWriteLockLeasesSuite(stage));
    describe('waking', () => readWriteLockWakingSuite(stage));
    describe('with writers preferred', () => preferWritersSuite(stage));
  });
}
