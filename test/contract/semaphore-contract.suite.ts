import { describe } from '@jest/globals';
import type { LockStage } from './lock-stage.js';
import { semaphoreEventsSuite } from './semaphore-events.suite.js';
import { semaphoreFaultsSuite } from './semaphore-faults.suite.js';
import { semaphoreLeaseSuite } from './semaphore-lease.suite.js';
import { semaphoreOptionsSuite } from './semaphore-options.suite.js';
import { semaphorePermitsSuite } from './semaphore-permits.suite.js';
import { semaphoreSeveralSuite } from './semaphore-several.suite.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import { semaphoreWaitingSuite } from './semaphore-waiting.suite.js';

/**
 * Everything that a semaphore promises, whatever servers it stands on. It contains the cases of Curator's
 * TestInterProcessSemaphore, each named where it stands, but for those of its shared counts and znodes.
 */
export function semaphoreContractSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  describe('permits', () => semaphorePermitsSuite(stage, semaphores));
  describe('several permits', () => semaphoreSeveralSuite(stage, semaphores));
  describe('waiting', () => semaphoreWaitingSuite(stage, semaphores));
  describe('the lease', () => semaphoreLeaseSuite(stage, semaphores));
  describe('events', () => semaphoreEventsSuite(stage, semaphores));
  describe('bad input', () => semaphoreOptionsSuite(stage, semaphores));
  describe('accidents', () => semaphoreFaultsSuite(stage, semaphores));
}
