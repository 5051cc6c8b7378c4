import { describe } from '@jest/globals';
import { onStage } from './on-stage.js';
import { readWriteCrowdSuite } from './read-write-crowd.suite.js';
import { readWriteDowngradeFaultsSuite } from './read-write-downgrade-faults.suite.js';
import { readWriteDowngradeSuite } from './read-write-downgrade.suite.js';
import { readWriteEventsSuite } from './read-write-events.suite.js';
import { readWriteFaultsSuite } from './read-write-faults.suite.js';
import { readWriteNestingSuite } from './read-write-nesting.suite.js';
import { readWriteSharingSuite } from './read-write-sharing.suite.js';
import { readWriteWaitSuite } from './read-write-wait.suite.js';
import type { RedisBackend } from './redis-backend.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';

/** What every read/write lock promises, of that on Redis, which is not fair; at most writers go first. */
export function redisReadWriteLockSuite(
  name: string,
  makeBackend: () => Promise<RedisBackend>,
  { preferWriters = false } = {},
): void {
  describe(`A read/write lock ${preferWriters ? 'that prefers writers ' : ''}on ${name}`, () => {
    const recipe = preferWriters ? redisRecipes.writersFirst : redisRecipes.mutex;
    const stage = onStage(async () => RedisStage.build(await makeBackend(), recipe));
    const order = preferWriters ? 'writers' : 'any';

    describe('sharing', () => readWriteSharingSuite(stage, order));
    describe('a crowd', () => readWriteCrowdSuite(stage));
    describe('nesting', () => readWriteNestingSuite(stage));
    describe('a downgrade', () => readWriteDowngradeSuite(stage));
    describe('a downgrade in trouble', () => readWriteDowngradeFaultsSuite(stage));
    describe('waiting', () => readWriteWaitSuite(stage));
    describe('events', () => readWriteEventsSuite(stage));
    describe('accidents', () => readWriteFaultsSuite(stage, false));
  });
}
