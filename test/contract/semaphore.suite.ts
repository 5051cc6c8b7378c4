import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { onStage } from './on-stage.js';
import { semaphoreCostSuite } from './semaphore-cost.suite.js';
import { semaphoreCountSuite } from './semaphore-count.suite.js';
import { semaphoreFaultsSuite } from './semaphore-faults.suite.js';
import { semaphoreLeaseSuite } from './semaphore-lease.suite.js';
import { semaphoreOptionsSuite } from './semaphore-options.suite.js';
import { semaphorePermitsSuite } from './semaphore-permits.suite.js';
import { semaphoreWaitingSuite } from './semaphore-waiting.suite.js';
import { semaphoreZnodesSuite } from './semaphore-znodes.suite.js';
import { Stage } from './stage.js';

/**
 * Everything that a semaphore promises, whatever servers it stands on. It contains the cases of Curator's
 * TestInterProcessSemaphore, each named where it stands; those of TestInterProcessSemaphoreCluster are in
 * semaphore.quorum.spec.ts.
 */
export function semaphoreSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A semaphore on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('permits', () => semaphorePermitsSuite(stage));
    describe('permits from a shared count', () => semaphoreCountSuite(stage));
    describe('waiting', () => semaphoreWaitingSuite(stage));
    describe('the lease', () => semaphoreLeaseSuite(stage));
    describe('the znodes', () => semaphoreZnodesSuite(stage));
    describe('the cost', () => semaphoreCostSuite(stage));
    describe('bad input', () => semaphoreOptionsSuite(stage));
    describe('accidents', () => semaphoreFaultsSuite(stage));
  });
}
