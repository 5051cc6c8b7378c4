import { describe } from '@jest/globals';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexEventsSuite } from './mutex-events.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexNonReentrantSuite } from './mutex-non-reentrant.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { onStage } from './on-stage.js';
import type { RedisBackend } from './redis-backend.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';

const NAMES = {
  mutex: 'mutex',
  fenced: 'fenced mutex',
  fair: 'fair mutex',
  spin: 'spin lock',
  semaphoreMutex: 'semaphore mutex',
};

/** What every mutex promises, of those on Redis. Only the fair one has one queue for all clients. */
export function redisMutexSuite(
  name: string,
  makeBackend: () => Promise<RedisBackend>,
  kind: keyof typeof NAMES = 'mutex',
): void {
  describe(`A ${NAMES[kind]} on ${name}`, () => {
    const stage = onStage(async () => RedisStage.build(await makeBackend(), redisRecipes[kind]));
    const isFair = kind === 'fair';

    describe('exclusion', () => mutexExclusionSuite(stage, isFair));
    if (kind === 'semaphoreMutex')
      describe('is not reentrant', () => mutexNonReentrantSuite(stage));
    else describe('re-entry', () => mutexReentrySuite(stage));
    describe('waiting', () => mutexWaitSuite(stage));
    describe('the lease', () => mutexLeaseSuite(stage));
    describe('events', () => mutexEventsSuite(stage));
    describe('closing the client', () => mutexClosingSuite(stage));
    describe('accidents', () => mutexFaultsSuite(stage, isFair));
  });
}
