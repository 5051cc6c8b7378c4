import { describe, expect, it } from '@jest/globals';
import type { Backend } from './backend.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexEventsSuite } from './mutex-events.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexNonReentrantSuite } from './mutex-non-reentrant.suite.js';
import { mutexRequestsSuite } from './mutex-requests.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { onStage } from './on-stage.js';
import { semaphoreMutexRecipe } from './semaphore-mutex-recipe.js';
import { Stage } from './stage.js';

/**
 * Everything that a semaphore mutex promises: what every mutex does, but for re-entry. As in Curator, where
 * TestInterProcessSemaphoreMutex runs TestInterProcessMutexBase without its tests of re-entry.
 */
export function semaphoreMutexSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A semaphore mutex on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend(), semaphoreMutexRecipe));

    describe('exclusion', () => mutexExclusionSuite(stage));
    describe('is not reentrant', () => mutexNonReentrantSuite(stage));
    describe('waiting', () => mutexWaitSuite(stage));
    describe('the lease', () => mutexLeaseSuite(stage));
    describe('events', () => mutexEventsSuite(stage));
    describe('closing the client', () => mutexClosingSuite(stage));
    describe('accidents', () => mutexFaultsSuite(stage));
    describe('its requests', () => mutexRequestsSuite(stage));

    it('is, on the servers, a semaphore of one permit', async () => {
      const { mine, theirs, key, path } = stage();
      const mutex = mine.locks.semaphoreMutex(key);
      const lease = await mutex.acquire();
      const semaphore = theirs.locks.semaphore(key, { permits: 1 });
      expect(await semaphore.tryAcquire()).toBeUndefined();
      await stage().caughtUp(mine);
      expect(await mutex.participants()).toEqual(await stage().queueIn(`${path}/leases`));
      expect(await semaphore.participants()).toEqual(await mutex.participants());
      await lease.release();
      await using next = await semaphore.acquire();
      expect(next.isHeld).toBe(true);
      expect(await mutex.tryAcquire()).toBeUndefined();
    });
  });
}
