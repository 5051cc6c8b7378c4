import { describe } from '@jest/globals';
import { independentRedis } from './independent-redis.js';
import { mutexClosingSuite } from './mutex-closing.suite.js';
import { mutexEventsSuite } from './mutex-events.suite.js';
import { mutexExclusionSuite } from './mutex-exclusion.suite.js';
import { mutexFaultsSuite } from './mutex-faults.suite.js';
import { mutexLeaseSuite } from './mutex-lease.suite.js';
import { mutexNonReentrantSuite } from './mutex-non-reentrant.suite.js';
import { mutexReentrySuite } from './mutex-reentry.suite.js';
import { mutexWaitSuite } from './mutex-wait.suite.js';
import { onStage } from './on-stage.js';
import { redLockGrantsSuite } from './red-lock-grants.suite.js';
import type { RedLockKind } from './red-lock-stage-client.js';
import { RedLockStage } from './red-lock-stage.js';

/** What every mutex promises, of those on several independent servers. */
export function redLockSuite(servers: number, kind: RedLockKind): void {
  describe(`A RedLock on ${servers} Redis servers, a ${kind}`, () => {
    const stage = onStage(async () => RedLockStage.build(await independentRedis(servers), kind));

    describe('exclusion', () => mutexExclusionSuite(stage, false));
    if (kind === 'semaphoreMutex')
      describe('is not reentrant', () => mutexNonReentrantSuite(stage));
    else describe('re-entry', () => mutexReentrySuite(stage));
    describe('waiting', () => mutexWaitSuite(stage));
    describe('the lease', () => mutexLeaseSuite(stage));
    describe('events', () => mutexEventsSuite(stage));
    describe('closing the client', () => mutexClosingSuite(stage));
    describe('accidents', () => mutexFaultsSuite(stage, false));
    if (servers === 5) describe('grants of its servers', () => redLockGrantsSuite(stage));
  });
}
