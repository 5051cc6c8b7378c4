import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { MutexBackend } from './mutex-backend.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexEventsSuite } from './mutex-events.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { MutexStage } from './mutex-stage.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { mutexZnodesSuite } from './mutex-znodes.suite.js';

/**
 * Everything that a mutex promises, whatever servers it stands on. It contains the cases of Curator's
 * TestInterProcessMutexBase and TestInterProcessMutex, each named where it stands, but for those of recipes that are not
 * there: revocation (testRevoking), drivers of the user's (testPersistentLock) and path schemas (testWithSchema).
 */
export function mutexSuite(name: string, makeBackend: () => Promise<MutexBackend>): void {
  describe(`A mutex on ${name}`, () => {
    let stage: MutexStage;
    const current = () => stage;

    beforeAll(async () => {
      stage = await MutexStage.build(await makeBackend());
    }, 60_000);
    afterAll(() => stage.stop());
    beforeEach(() => stage.reset());
    afterEach(async () => {
      await stage.closeClients();
      await eventually('no lock node is left', async () => (await stage.allNodes()).length === 0);
    });

    describe('exclusion', () => mutexExclusionSuite(current));
    describe('re-entry', () => mutexReentrySuite(current));
    describe('waiting', () => mutexWaitSuite(current));
    describe('the lease', () => mutexLeaseSuite(current));
    describe('the znodes', () => mutexZnodesSuite(current));
    describe('events', () => mutexEventsSuite(current));
    describe('closing the client', () => mutexClosingSuite(current));
    describe('accidents', () => mutexFaultsSuite(current));
  });
}
