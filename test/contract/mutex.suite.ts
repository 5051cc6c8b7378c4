import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexEventsSuite } from './mutex-events.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { mutexRequestsSuite } from './mutex-requests.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { mutexZnodesSuite } from './mutex-znodes.suite.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/**
 * Everything that a mutex promises, whatever servers it stands on. It contains the cases of Curator's
 * TestInterProcessMutexBase and TestInterProcessMutex, each named where it stands. Revocation (testRevoking) has a suite of
 * its own; drivers of the user's (testPersistentLock) and path schemas (testWithSchema) we do not have.
 */
export function mutexSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A mutex on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('exclusion', () => mutexExclusionSuite(stage));
    describe('re-entry', () => mutexReentrySuite(stage));
    describe('waiting', () => mutexWaitSuite(stage));
    describe('the lease', () => mutexLeaseSuite(stage));
    describe('the znodes', () => mutexZnodesSuite(stage));
    describe('its requests', () => mutexRequestsSuite(stage));
    describe('events', () => mutexEventsSuite(stage));
    describe('closing the client', () => mutexClosingSuite(stage));
    describe('accidents', () => mutexFaultsSuite(stage));
  });
}
