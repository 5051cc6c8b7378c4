import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { multiLockFaultsSuite } from './multi-lock-faults.suite.js';
import { multiLockPartsSuite } from './multi-lock-parts.suite.js';
import { multiLockRecipe } from './multi-lock-recipe.js';
import { multiLockWaitSuite } from './multi-lock-wait.suite.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { mutexRequestsSuite } from './mutex-requests.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/**
 * Everything that a multi-lock promises: of two mutexes what a mutex does, as in Curator, where TestInterProcessMultiMutex
 * runs TestInterProcessMutexBase; and what there is to it when its parts differ.
 */
export function multiLockSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A multi-lock on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend(), multiLockRecipe));

    describe('of two mutexes, exclusion', () => mutexExclusionSuite(stage));
    describe('of two mutexes, re-entry', () => mutexReentrySuite(stage));
    describe('of two mutexes, waiting', () => mutexWaitSuite(stage));
    describe('of two mutexes, the lease', () => mutexLeaseSuite(stage));
    describe('of two mutexes, closing the client', () => mutexClosingSuite(stage));
    describe('of two mutexes, accidents', () => mutexFaultsSuite(stage));
    describe('of two mutexes, its requests', () => mutexRequestsSuite(stage));
    describe('its parts', () => multiLockPartsSuite(stage));
    describe('waiting for its parts', () => multiLockWaitSuite(stage));
    describe('when something happens to its parts', () => multiLockFaultsSuite(stage));
  });
}
