import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { lockInternalsFaultsSuite } from './lock-internals-faults.suite.js';
import { lockerSuite } from './locker.suite.js';
import { onStage } from './on-stage.js';
import { revocationListenersSuite } from './revocation-listeners.suite.js';
import { revocationSuite } from './revocation.suite.js';
import { Stage } from './stage.js';

/**
 * What locks of different kinds have in common, whatever servers they stand on. It contains the cases of Curator's
 * TestLockInternals, and those of TestInterProcessMutex that are about more than the mutex (testRevoking). Drivers of the
 * user's (testPersistentLock) and path schemas (testWithSchema) are not there.
 */
export function lockInternalsSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`On ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('an acquire that fails on the way', () => lockInternalsFaultsSuite(stage));
    describe('the revocation', () => revocationSuite(stage));
    describe('the listeners of a revocation', () => revocationListenersSuite(stage));
    describe('await using', () => lockerSuite(stage));
  });
}
