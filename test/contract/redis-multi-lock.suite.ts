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
import { redisMultiLockPartsSuite } from './redis-multi-lock-parts.suite.js';
import { redisMultiLockScriptSuite } from './redis-multi-lock-script.suite.js';
import { redisMultiLockWaitSuite } from './redis-multi-lock-wait.suite.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';

const NAMES = {
  multiLock: 'of two mutexes',
  slotMultiLock: 'of two mutexes of one slot',
  fencedMultiLock: 'of two fenced mutexes',
};

/**
 * What every mutex promises, of two on Redis held as one; what there is to it when its parts differ; and what locks of
 * every kind have in common.
 *
 * @param two which mutexes: plain ones are taken by one script, of a cluster only in one slot; fenced ones one after the other
 */
export function redisMultiLockSuite(
  name: string,
  makeBackend: () => Promise<RedisBackend>,
  two: keyof typeof NAMES = 'multiLock',
): void {
  describe(`A multi-lock ${NAMES[two]} on ${name}`, () => {
    const stage = onStage(async () => RedisStage.build(await makeBackend(), redisRecipes[two]));

    describe('exclusion', () => mutexExclusionSuite(stage, false));
    describe('re-entry', () => mutexReentrySuite(stage));
    describe('waiting', () => mutexWaitSuite(stage));
    describe('the lease', () => mutexLeaseSuite(stage));
    describe('closing the client', () => mutexClosingSuite(stage));
    describe('accidents', () => mutexFaultsSuite(stage, false));
    if (two !== 'multiLock') return;
    describe('and its parts', () => redisMultiLockPartsSuite(stage));
    describe('waiting for parts', () => redisMultiLockWaitSuite(stage));
    describe('its parts by one script', () => redisMultiLockScriptSuite(stage));
    describe('and other locks with await using', () => lockerSuite(stage));
  });
}
