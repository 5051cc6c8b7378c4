import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { GuaranteedDelete } from '../../lib/zookeeper/nodes/guaranteed-delete.js';
import { LockHold } from '../../lib/zookeeper/locks/lock-hold.js';
import { LockInternals } from '../../lib/zookeeper/locks/lock-internals.js';
import { OwnedNode, ProtectedNode } from '../../lib/zookeeper/nodes/protected-node.js';
import {
  findPredecessor,
  readLockDriver,
  writeLockDriver,
} from '../../lib/zookeeper/locks/lock-drivers.js';
import { SemaphoreGate } from '../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import { answerSyncBySelf } from './ensemble/answer-sync-by-self.js';
import { firstViolation } from './first-violation.js';
import { countedSemaphore } from './locks/counted-semaphore.js';
import { multiLock } from './locks/multi-lock.js';
import { mutex } from './locks/mutex.js';
import { readWriteLock } from './locks/read-write-lock.js';
import { semaphore } from './locks/semaphore.js';
import { semaphoreMutex } from './locks/semaphore-mutex.js';
import { SketchedMultiLock, type Faults } from './sketched-multi-lock.js';
import type { World } from './world.js';

jest.setTimeout(600_000); // some need hundreds of schedules

const oneMutex = (world: World) => [mutex(world, 'a')];
const readersAndWriters = (world: World) => Object.values(readWriteLock(world, 'a'));
const twoPermits = (world: World) => [semaphore(world, 'a', 2)];
const onePermit = (world: World) => [semaphoreMutex(world, 'a')];

/** That the schedules find nothing counts only if they do find planted bugs. */
describe('The simulation catches', () => {
  afterEach(() => void jest.restoreAllMocks());

  describe.each([
    ['mutex', oneMutex],
    ['read/write lock', readersAndWriters],
    ['semaphore', twoPermits],
    ['semaphore mutex', onePermit],
  ])('a %s', (_, lay) => {
    it('that does not watch what it holds for a long time', async () => {
      jest.spyOn(LockHold.prototype, 'watch').mockReturnValue();
      expect(await firstViolation(lay, /says that it is held without its node/)).toBeDefined();
    });

    it('that accepts the answer of a server that is cut off as proof that its session lives', async () => {
      answerSyncBySelf();
      const violation = /says that it is held without its node|outlives its session/;
      expect(await firstViolation(lay, violation, 1_000)).toBeDefined();
    });

    it('that forgets nodes with an unanswered create', async () => {
      const remove = GuaranteedDelete.prototype.remove;
      jest.spyOn(GuaranteedDelete.prototype, 'remove').mockImplementation(function (
        this: GuaranteedDelete,
        node,
      ) {
        return node.path === undefined ? Promise.resolve(false) : remove.call(this, node);
      });
      expect(await firstViolation(lay, /stands in the way|leaves its node behind/)).toBeDefined();
    });
  });

  describe.each([
    ['mutex', oneMutex],
    ['read/write lock', readersAndWriters],
  ])('a %s', (_, lay) => {
    it('that grants without the session check', async () => {
      jest.spyOn(ProtectedNode.prototype, 'belongsTo').mockReturnValue(true);
      jest.spyOn(ProtectedNode.prototype, 'mayExist', 'get').mockImplementation(function (
        this: ProtectedNode,
      ) {
        return this.path !== undefined || this.isUncertain;
      });
      expect(await firstViolation(lay, /granted to a node of another session/)).toBeDefined();
    });
  });

  describe('a read/write lock', () => {
    it('with a writer that does not look again when its predecessor leaves', async () => {
      const { sortKey } = writeLockDriver;
      jest.spyOn(writeLockDriver, 'turnOf').mockImplementation((children, own) => {
        const { isQueued, ahead, nearest } = findPredecessor(children, own, sortKey);
        return isQueued ? { blocker: nearest, isNext: ahead === 1 } : undefined; // like that of a mutex
      });
      expect(await firstViolation(readersAndWriters, /never had its turn/)).toBeDefined();
    });

    it('with readers that overtake waiting writers', async () => {
      const turnOf = readLockDriver.turnOf.bind(readLockDriver);
      jest.spyOn(readLockDriver, 'turnOf').mockImplementation((children, own) => {
        const { nearest } = findPredecessor(children, own, readLockDriver.sortKey);
        return nearest?.includes('__READ__') ? { isNext: false } : turnOf(children, own);
      });
      expect(await firstViolation(readersAndWriters, /never had its turn/)).toBeDefined();
    });

    it('that downgrades to a reader at the end of the queue, as Curator did before 5.5', async () => {
      const atOnce = { ...readLockDriver, turnOf: () => ({ isNext: false }) };
      const acquire = LockInternals.prototype.acquire;
      jest.spyOn(LockInternals.prototype, 'acquire').mockImplementation(function (
        this: LockInternals,
        options,
        planOf,
      ) {
        return acquire.call(this, options, planOf && (() => ({ driver: atOnce })));
      });
      expect(
        await firstViolation(readersAndWriters, /is not downgraded in its place/),
      ).toBeDefined();
    });

    it('with a reader that does not see that its caller is the writer', async () => {
      const held = LockInternals.prototype.held;
      jest.spyOn(LockInternals.prototype, 'held').mockImplementation(function (
        this: LockInternals,
      ) {
        const hold = held.call(this);
        return hold?.identity.recipe === 'writeLock' ? undefined : hold;
      });
      expect(await firstViolation(readersAndWriters, /./)).toBeDefined();
    });
  });

  describe('a semaphore', () => {
    it('that counts one permit too many', async () => {
      const lay = (world: World) => [
        {
          ...semaphore(world, 'a', 2),
          of: ({ locks }: World['clients'][number]) => locks.semaphore('a', { permits: 3 }),
        },
      ];
      expect(await firstViolation(lay, /never had its turn/)).toBeDefined();
    });

    it('that does not learn of a lower count', async () => {
      const deaf = { count: 3, onChange: () => () => {} };
      const lay = (world: World) => [
        {
          ...countedSemaphore(world, 'a', 3),
          of: ({ locks }: World['clients'][number]) => locks.semaphore('a', { permits: deaf }),
        },
      ];
      expect(await firstViolation(lay, /never had its turn/)).toBeDefined();
    });

    it('with waiters that do not queue at the gate', async () => {
      jest.spyOn(SemaphoreGate.prototype, 'enter').mockResolvedValue({
        watch: Object.create(OwnedNode.prototype, {
          isExclusive: { value: true },
          keepWatching: { value: () => Promise.resolve() },
        }) as OwnedNode,
        close: () => {},
      });
      expect(await firstViolation(twoPermits, /the gate is not its own/)).toBeDefined();
    });
  });

  describe('a multi-lock', () => {
    const sketched = (faults: Faults) => (world: World) => {
      const parts = [mutex(world, 'a'), mutex(world, 'b')];
      const make: Parameters<typeof multiLock>[2] = (locks, clock) =>
        new SketchedMultiLock(locks, clock, faults);
      return [multiLock(world, parts, make), ...parts];
    };

    it.each<[string, Faults, RegExp]>([
      ['keeps what it has when it fails', { isKeeping: true }, /keeps|but for a part/],
      ['takes the parts in the order in which they were given', { isUnordered: true }, /takes b/],
      ['gives every part the whole time', { isSlow: true }, /goes on after its end/],
      ['is granted although a part was lost meanwhile', { isHasty: true }, /was lost before/],
      [
        'does not see that a part is lost',
        { isNumb: true },
        /goes on although a part of it is lost/,
      ],
    ])('that %s', async (_, faults, violation) => {
      expect(await firstViolation(sketched(faults), violation)).toBeDefined();
    });

    it('only if it has a bug', async () => {
      expect(await firstViolation(sketched({}), /./, 30)).toBeUndefined();
    });
  });
});
