import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { onStage } from './on-stage.js';
import { readWriteCrowdSuite } from './read-write-crowd.suite.js';
import { readWriteDowngradeFaultsSuite } from './read-write-downgrade-faults.suite.js';
import { readWriteDowngradeSuite } from './read-write-downgrade.suite.js';
import { readWriteEventsSuite } from './read-write-events.suite.js';
import { readWriteFaultsSuite } from './read-write-faults.suite.js';
import { readWriteNestingSuite } from './read-write-nesting.suite.js';
import { readWriteSharingSuite } from './read-write-sharing.suite.js';
import { readWriteStrangersSuite } from './read-write-strangers.suite.js';
import { readWriteWaitSuite } from './read-write-wait.suite.js';
import { readWriteZnodesSuite } from './read-write-znodes.suite.js';
import { Stage } from './stage.js';

/**
 * Everything that a read/write lock promises, whatever servers it stands on. It contains all cases of Curator's
 * TestInterProcessReadWriteLock, each named where it stands.
 */
export function readWriteLockSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A read/write lock on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('sharing', () => readWriteSharingSuite(stage));
    describe('a crowd', () => readWriteCrowdSuite(stage));
    describe('nesting', () => readWriteNestingSuite(stage));
    describe('a downgrade', () => readWriteDowngradeSuite(stage));
    describe('a downgrade in trouble', () => readWriteDowngradeFaultsSuite(stage));
    describe('waiting', () => readWriteWaitSuite(stage));
    describe('the znodes', () => readWriteZnodesSuite(stage));
    describe('a node for each waiter and downgrade', () => readWriteStrangersSuite(stage));
    describe('events', () => readWriteEventsSuite(stage));
    describe('accidents', () => readWriteFaultsSuite(stage));
  });
}
