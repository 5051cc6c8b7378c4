import { describe } from '@jest/globals';
import {
  countDownLatchCountSuite,
  countDownLatchLayoutSuite,
  countDownLatchWaitingSuite,
} from './count-down-latch.suite.js';
import {
  fairLockLeaversSuite,
  fairLockLinesSuite,
  fairLockOrderSuite,
} from './fair-mutex.suite.js';
import {
  fairLockArithmeticSuite,
  fairLockDeadWaitersSuite,
  fairLockLateCopiesSuite,
} from './fair-mutex-queue.suite.js';
import { handOffSuite } from './hand-off.suite.js';
import { keptMutexSuite } from './kept-mutex.suite.js';
import { lockHoldersSuite, lockKindsSuite, ownershipSuite } from './mutex.suite.js';
import { fencedLockSuite, lockLayoutSuite, lockScriptsSuite } from './mutex-layout.suite.js';
import { lockLeaseSuite, renewalSuite } from './mutex-lease.suite.js';
import { multiLockSuite, mutexWaitingSuite, spinLockSpinningSuite } from './mutex-waiting.suite.js';
import {
  multiLockWakeUpsSuite,
  permitWakeUpsSuite,
  writerWakeUpsSuite,
} from './passed-wake-ups.suite.js';
import {
  semaphoreLayoutSuite,
  semaphorePermitsSuite,
  semaphoreWaitingSuite,
} from './plain-semaphore.suite.js';
import {
  preferWritersSuite,
  readWriteLockSharingSuite,
  readWriteLockWakingSuite,
} from './read-write-lock.suite.js';
import {
  readWriteLockForeignNumbersSuite,
  readWriteLockManyReadersSuite,
  readWriteLockLayoutSuite,
  readWriteLockLeasesSuite,
} from './read-write-lock-layout.suite.js';
import {
  permitExpirableSemaphoreBadInputSuite,
  permitExpirableSemaphoreLayoutSuite,
  semaphoreBadInputSuite,
} from './semaphore-layout.suite.js';
import {
  permitExpirableSemaphoreLeasesSuite,
  permitExpirableSemaphoreRedissonSuite,
} from './semaphore-leases.suite.js';
import {
  permitExpirableSemaphoreDeclaredSuite,
  permitExpirableSemaphoreManySuite,
  permitExpirableSemaphorePermitsSuite,
} from './semaphore-permits.suite.js';
import {
  permitExpirableSemaphoreFairSuite,
  permitExpirableSemaphoreQueueSuite,
  permitExpirableSemaphoreWaitingSuite,
} from './semaphore-waiting.suite.js';
import { type OnRedis, removePermits } from './support/redis-stage.js';
import { WOKEN, wakeUpCommandsSuite, wakeUpsSuite } from './wake-ups.suite.js';

/**
 * Everything that locks promise on Redis beyond what they promise anywhere (`test/contract`). Contains the cases of Redisson's
 * tests of its locks, each marked with its name.
 */
export function locksSuite(on: OnRedis): void {
  describe(`A mutex on Redis, ${on.kind}`, () => {
    describe('ownership', () => ownershipSuite(on));
    describe('waiting', () => mutexWaitingSuite(on));
    describe('a release', () => wakeUpsSuite(on, WOKEN.mutex));
    describe('a release among late commands', () => wakeUpCommandsSuite(on, WOKEN.mutex));
    describe('spinning', () => spinLockSpinningSuite(on));
    describe('the lease', () => lockLeaseSuite(on));
    describe('renewal', () => renewalSuite(on));
    describe('handing it on', () => handOffSuite(on));
    describe('keeping it', () => keptMutexSuite(on));
    describe('the holders', () => lockHoldersSuite(on));
    describe('the layout', () => lockLayoutSuite(on));
    describe('fenced', () => fencedLockSuite(on));
    describe('the scripts', () => lockScriptsSuite(on));
    describe('kinds', () => lockKindsSuite(on));
  });
  describe(`A multi-lock on Redis, ${on.kind},`, () => multiLockSuite(on));
  describe(`A multi-lock on Redis, ${on.kind}: a release`, () => wakeUpsSuite(on, WOKEN.multiLock));
  describe(`A multi-lock on Redis, ${on.kind}: a wake-up`, () => multiLockWakeUpsSuite(on));
  describe(`A fair mutex on Redis, ${on.kind}`, () => {
    describe('order', () => fairLockOrderSuite(on));
    describe('the arithmetic of the queue', () => fairLockArithmeticSuite(on));
    describe('waiters that leave the queue', () => fairLockLeaversSuite(on));
    describe('waiters that die together', () => fairLockDeadWaitersSuite(on));
    describe('the waiters of one process', () => fairLockLinesSuite(on));
    describe('scripts that are sent twice', () => fairLockLateCopiesSuite(on));
  });
  describe(`A read/write lock on Redis, ${on.kind}`, () => {
    describe('sharing', () => readWriteLockSharingSuite(on));
    describe('keys and messages', () => readWriteLockLayoutSuite(on));
    describe('numbers in foreign hashes', () => readWriteLockForeignNumbersSuite(on));
    describe('many readers', () => readWriteLockManyReadersSuite(on));
    describe('leases', () => readWriteLockLeasesSuite(on));
    describe('waking', () => readWriteLockWakingSuite(on));
    describe('a release', () => wakeUpsSuite(on, WOKEN.writeLock));
    describe('a release among late commands', () => wakeUpCommandsSuite(on, WOKEN.writeLock));
    describe('a release among readers', () => writerWakeUpsSuite(on));
    describe('with writers preferred', () => preferWritersSuite(on));
  });
}

/** The same for semaphores and latches. */
export function permitsSuite(on: OnRedis): void {
  describe(`A semaphore with leases on Redis, ${on.kind}`, () => {
    removePermits(on.stage);
    describe('permits', () => permitExpirableSemaphorePermitsSuite(on));
    describe('many permits', () => permitExpirableSemaphoreManySuite(on));
    describe('the leases', () => permitExpirableSemaphoreLeasesSuite(on));
    describe('waiting', () => permitExpirableSemaphoreWaitingSuite(on));
    describe('a release', () => wakeUpsSuite(on, WOKEN.permit));
    describe('a release among late commands', () => wakeUpCommandsSuite(on, WOKEN.permit));
    describe('a release among several permits', () => permitWakeUpsSuite(on));
    describe('how many there should be', () => permitExpirableSemaphoreDeclaredSuite(on));
    describe('fair', () => permitExpirableSemaphoreFairSuite(on));
    describe('the queue of fair waiters', () => permitExpirableSemaphoreQueueSuite(on));
    describe('the layout', () => permitExpirableSemaphoreLayoutSuite(on));
    describe('what Redisson leaves', () => permitExpirableSemaphoreRedissonSuite(on));
    describe('bad input', () => permitExpirableSemaphoreBadInputSuite(on));
  });
  describe(`A plain semaphore on Redis, ${on.kind}`, () => {
    removePermits(on.stage);
    describe('permits', () => semaphorePermitsSuite(on));
    describe('waiting', () => semaphoreWaitingSuite(on));
    describe('the layout', () => semaphoreLayoutSuite(on));
    describe('bad input', () => semaphoreBadInputSuite(on));
  });
  describe(`A count-down latch on Redis, ${on.kind}`, () => {
    describe('counting', () => countDownLatchCountSuite(on));
    describe('waiting', () => countDownLatchWaitingSuite(on));
    describe('the layout', () => countDownLatchLayoutSuite(on));
  });
}
