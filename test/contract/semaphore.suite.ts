import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { onStage } from './on-stage.js';
import { semaphoreContractSuite } from './semaphore-contract.suite.js';
import { semaphoreCostSuite } from './semaphore-cost.suite.js';
import { semaphoreCountSuite } from './semaphore-count.suite.js';
import { semaphoreNodesFaultsSuite } from './semaphore-nodes-faults.suite.js';
import { semaphoreNodesOptionsSuite } from './semaphore-nodes-options.suite.js';
import { semaphoreZnodesSuite } from './semaphore-znodes.suite.js';
import { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/**
 * What every semaphore promises, and what there is to those of ZooKeeper. The cases of Curator's
 * TestInterProcessSemaphoreCluster are in semaphore.quorum.spec.ts.
 */
export function semaphoreSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A semaphore on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    semaphoreContractSuite(stage, new ZooKeeperSemaphoreStage(stage));
    describe('permits from a shared count', () => semaphoreCountSuite(stage));
    describe('the znodes', () => semaphoreZnodesSuite(stage));
    describe('the cost', () => semaphoreCostSuite(stage));
    describe('bad input for the znodes', () => semaphoreNodesOptionsSuite(stage));
    describe('accidents of the znodes', () => semaphoreNodesFaultsSuite(stage));
  });
}
