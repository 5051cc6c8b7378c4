import { describe } from '@jest/globals';
import { lockerSuite } from './locker.suite.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { onStage } from './on-stage.js';
import type { RedisBackend } from './redis-backend.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';

/** What every mutex promises, of two mutexes on Redis held as one; and what locks of every kind have in common. */
export function redisMultiLockSuite(name: string, makeBackend: () => Promise<RedisBackend>): void {
  describe(`A multi-lock on ${name}`, () => {
    const stage = onStage(async () =>
      RedisStage.build(await makeBackend(), redisRecipes.multiLock),
    );

    describe('of two mutexes, exclusion', () => mutexExclusionSuite(stage, false));
    describe('of two mutexes, re-entry', () => mutexReentrySuite(stage));
    describe('of two mutexes, waiting', () => mutexWaitSuite(stage));
    describe('of two mutexes, the lease', () => mutexLeaseSuite(stage));
    describe('of two mutexes, closing the client', () => mutexClosingSuite(stage));
    describe('of two mutexes, accidents', () => mutexFaultsSuite(stage, false));
    describe('and other locks with await using', () => lockerSuite(stage, false));
  });
}
